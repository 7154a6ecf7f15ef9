import type { Service } from './fault-rules.ts';

interface Throttled {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const json = (type: string, message: string): Throttled => ({
  status: 400,
  headers: { 'content-type': 'application/x-amz-json-1.0' },
  body: Buffer.from(JSON.stringify({ __type: type, message, Message: message })),
});

/** How each service says that there is too much for it. */
export function throttled(service: Service): Throttled {
  switch (service) {
    case 'dynamodb':
      return json(
        'com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException',
        'The level of configured provisioned throughput for the table was exceeded.',
      );
    case 'states':
    case 'ecs':
      return json('ThrottlingException', 'Rate exceeded');
    case 's3':
      return {
        status: 503,
        headers: { 'content-type': 'application/xml' },
        body: Buffer.from(
          '<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>',
        ),
      };
  }
}
