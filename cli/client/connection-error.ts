import { TransportError } from './client-errors.ts';

const RETRYABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'ENETUNREACH',
  'EHOSTUNREACH',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

const codeOf = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return codeOf(error.cause);
};

const deepestMessage = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? deepestMessage(error.cause) : error.message;
};

/** What fetch throws, in words: its own message is `fetch failed` for everything. */
export function connectionError(error: unknown, url: URL): TransportError {
  if (error instanceof Error && error.name === 'TimeoutError') {
    return new TransportError('unreachable', `${url.origin} did not answer in time`, { cause: error });
  }
  const code = codeOf(error);
  const reason = code === 'ECONNREFUSED' ? 'nothing listens there' : (code ?? deepestMessage(error));
  return new TransportError('unreachable', `cannot reach ${url.origin}: ${reason}`, {
    cause: error,
    retryable: code !== undefined && RETRYABLE.has(code),
  });
}
