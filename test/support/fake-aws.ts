/** An AWS that has nothing and takes everything: enough for a function to come to an answer over real clients. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface FakeAws {
  readonly endpoint: string;
  /** `Service.Operation`, or the method and path for S3. */
  readonly calls: string[];
  close(): Promise<void>;
}

/** By the operation's name; what is not here is answered with an empty object. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  Query: { Items: [], Count: 0 },
  ListTasks: { taskArns: [] },
  DescribeTasks: { tasks: [], failures: [] },
  StartExecution: { executionArn: 'arn:aws:states:eu-west-1:123456789012:execution:m:e', startDate: 1 },
};

export async function startFakeAws(): Promise<FakeAws> {
  const calls: string[] = [];
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => answer(request, response, calls));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    calls,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answer(request: IncomingMessage, response: ServerResponse, calls: string[]): void {
  const target = request.headers['x-amz-target'];
  if (typeof target !== 'string') {
    calls.push(`S3 ${request.method} ${request.url?.split('?')[0]}`);
    response.writeHead(request.method === 'GET' || request.method === 'HEAD' ? 404 : 200, { etag: '"1"' });
    response.end();
    return;
  }
  const operation = target.split('.').at(-1) ?? '';
  calls.push(target);
  response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' });
  response.end(JSON.stringify(ANSWERS[operation] ?? {}));
}
