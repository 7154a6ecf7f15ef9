/**
 * Public list prices in US dollars, on demand, no free tier, no volume discount. AWS changes them, and Regions differ by up
 * to a third; put yours here, and the tables of docs/operating.md follow.
 */
export const PRICED_IN = 'us-east-1';
/** None is known to have changed since. */
export const PRICED_ON = 'early 2026';

export interface Price {
  readonly usd: number;
  /** For how many units of `unit`. */
  readonly per: number;
  readonly unit: string;
  /** The page of AWS that lists it. */
  readonly source: string;
}

const price = (usd: number, per: number, unit: string, source: string): Price => ({ usd, per, unit, source });
const MILLION = 1_000_000;

export const PRICES = {
  table_write_units: price(0.625, MILLION, 'write request units', 'DynamoDB pricing, on-demand capacity'),
  table_read_units: price(0.125, MILLION, 'read request units', 'DynamoDB pricing, on-demand capacity'),
  table_storage: price(0.25, 1, 'GB-month', 'DynamoDB pricing, on-demand capacity'),
  table_backup: price(0.2, 1, 'GB-month', 'DynamoDB pricing, point-in-time recovery'),
  object_puts: price(0.005, 1_000, 'PUT, LIST', 'S3 pricing, Standard'),
  object_gets: price(0.0004, 1_000, 'GET', 'S3 pricing, Standard'),
  object_storage: price(0.023, 1, 'GB-month', 'S3 pricing, Standard, first 50 TB'),
  function_requests: price(0.2, MILLION, 'requests', 'Lambda pricing'),
  function_time: price(0.0000133334, 1, 'GB-second', 'Lambda pricing, Arm'),
  transitions: price(0.025, 1_000, 'state transitions', 'Step Functions pricing, Standard'),
  traces: price(5, MILLION, 'traces', 'X-Ray pricing'),
  api_requests: price(3.5, MILLION, 'requests', 'API Gateway pricing, REST APIs, first 333 million'),
  sandbox_cpu: price(0.03238, 1, 'vCPU-hour', 'Fargate pricing, Linux/ARM'),
  sandbox_memory: price(0.00356, 1, 'GB-hour', 'Fargate pricing, Linux/ARM'),
  sandbox_cpu_x64: price(0.04048, 1, 'vCPU-hour', 'Fargate pricing, Linux/X86'),
  sandbox_memory_x64: price(0.004445, 1, 'GB-hour', 'Fargate pricing, Linux/X86'),
  endpoint_hours: price(0.01, 1, 'endpoint-hour in one zone', 'PrivateLink pricing, interface endpoints'),
  keys: price(1, 1, 'key-month', 'KMS pricing'),
  key_requests: price(0.03, 10_000, 'requests', 'KMS pricing'),
  alarms: price(0.1, 1, 'alarm metric-month', 'CloudWatch pricing, standard resolution'),
  dashboards: price(3, 1, 'dashboard-month', 'CloudWatch pricing'),
  metrics: price(0.3, 1, 'metric-month', 'CloudWatch pricing, first 10,000 custom metrics'),
  log_intake: price(0.5, 1, 'GB', 'CloudWatch pricing, Logs, standard class'),
  log_storage: price(0.03, 1, 'GB-month', 'CloudWatch pricing, Logs'),
  firewall_domains: price(0.0005, 1, 'domain-month', 'Route 53 pricing, Resolver DNS Firewall'),
  image_storage: price(0.1, 1, 'GB-month', 'ECR pricing, private repositories'),
  web_acl: price(5, 1, 'web ACL-month', 'WAF pricing'),
  web_acl_rules: price(1, 1, 'rule-month', 'WAF pricing'),
} as const satisfies Readonly<Record<string, Price>>;

export type PriceName = keyof typeof PRICES;

/** In US dollars. */
export const costOf = (name: PriceName, amount: number): number =>
  (amount * PRICES[name].usd) / PRICES[name].per;

/** As AWS counts a month. */
export const HOURS_A_MONTH = 730;
