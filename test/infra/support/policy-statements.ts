/** Every IAM statement of a template, wherever it is: in roles, in policies of buckets, queues, keys, endpoints, APIs. */
import type { StackTemplate } from './synthesize.ts';

export interface PolicyStatement {
  /** `<stack>/<logical id>`. */
  readonly where: string;
  readonly type: string;
  readonly effect: string;
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  /** As text, `Service:…`, `AWS:…` or `*`. */
  readonly principals: readonly string[];
  readonly conditions: unknown;
  /** What of NotAction, NotResource and NotPrincipal it has. */
  readonly negated: readonly string[];
}

/** A value of a template as text: `${…}` stands for what is known at deployment only. */
export function textOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const [[name, argument] = ['', undefined]] = Object.entries(value);
  if (name === 'Fn::Join' && Array.isArray(argument)) {
    const [separator, parts] = argument;
    return (parts as unknown[]).map(textOf).join(String(separator));
  }
  if (name === 'Ref') return `\${${String(argument)}}`;
  if (name === 'Fn::GetAtt') return `\${${(argument as string[]).join('.')}}`;
  if (name === 'Fn::ImportValue') return `\${${textOf(argument)}}`;
  if (name === 'Fn::GetStackOutput') {
    const { StackName, OutputName } = argument as Record<string, unknown>;
    return `\${${textOf(StackName)}:${textOf(OutputName)}}`;
  }
  return JSON.stringify(value);
}

const listOf = (value: unknown): string[] =>
  value === undefined ? [] : (Array.isArray(value) ? value : [value]).map(textOf);

function principalsOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return listOf(value);
  return Object.entries(value).flatMap(([kind, who]) => listOf(who).map((one) => `${kind}:${one}`));
}

type Document = { readonly Statement: unknown };

const isDocument = (value: unknown): value is Document =>
  typeof value === 'object' && value !== null && 'Statement' in value;

/** Some resources take a document as text. */
function asDocument(value: unknown): Document | undefined {
  if (isDocument(value)) return value;
  const text = textOf(value);
  return text.startsWith('{"Statement"') ? JSON.parse(text) : undefined;
}

function documentsIn(value: unknown): Document[] {
  const document = asDocument(value);
  if (document !== undefined) return [document];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(documentsIn);
}

export function statementsOf(stack: string, template: StackTemplate): PolicyStatement[] {
  return Object.entries(template.Resources).flatMap(([id, resource]) =>
    documentsIn(resource.Properties).flatMap(({ Statement }) =>
      [Statement].flat().map((statement): PolicyStatement => {
        const fields = statement as Record<string, unknown>;
        return {
          where: `${stack}/${id}`,
          type: resource.Type,
          effect: textOf(fields.Effect),
          actions: listOf(fields.Action),
          resources: listOf(fields.Resource),
          principals: principalsOf(fields.Principal),
          conditions: fields.Condition,
          negated: ['NotAction', 'NotResource', 'NotPrincipal'].filter((name) => name in fields),
        };
      }),
    ),
  );
}
