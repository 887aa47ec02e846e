import { prettyFactory } from 'pino-pretty'

/** Members that `head` writes at the beginning of the line, or omits. */
const HEAD = ['method', 'path', 'route', 'ip', 'operation', 'status', 'ms', 'storeId', 'applicationId', 'requestId']

/** Returns a function that formats a JSON line for people: time, level, message, other members; an error's stack below. */
export function readableLines({ colorize }: { colorize: boolean }): (line: string) => string {
  const pretty = prettyFactory({
    colorize,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss',
    errorLikeObjectKeys: ['err'],
    ignore: HEAD.join(),
    messageFormat: head,
  })
  // Terminals obey control characters. JSON escapes only those of ASCII.
  return (line) => pretty(line.replace(/\p{Cc}/gu, ''))
}

/** Such as "GET /StoreWebAPI/v1/Products 200 12 ms store 1 app 1 from 127.0.0.1 id …". The route says less than the path. */
function head(line: Record<string, unknown>) {
  const { msg, method, path, operation, status, ms, storeId, applicationId, requestId, ip } = line
  const labelled = { store: storeId, app: applicationId, from: ip, id: requestId }
  return [
    ...[method, path, operation, msg === 'request' ? undefined : msg, status],
    ...(ms === undefined ? [] : [ms, 'ms']),
    ...Object.entries(labelled).flatMap(([label, value]) => (value === undefined ? [] : [label, value])),
  ]
    .filter((part) => part !== undefined)
    .join(' ')
    .replace(/\p{Cc}/gu, ' ')
}
