/** A request as it goes over the line. */
export interface FuzzRequest {
  /** Such as `PUT /Products/{catalogid}`: the operation that it began as. */
  readonly operation: string
  readonly method: string
  /** With the query; begins with a slash. */
  readonly path: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Null: none is sent. */
  readonly body: Buffer | null
  /** What goes over a connection of its own in place of all this, which then only says what was meant. */
  readonly bytes?: Buffer
  /** What was done to it after it was made as documented; empty: nothing. */
  readonly mutations: readonly string[]
}

export interface FuzzAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

/** The request as a line for a shell. */
export function shellLine({ method, path, headers, body, bytes }: FuzzRequest, baseUrl: string): string {
  if (bytes !== undefined) {
    const { hostname, port } = new URL(baseUrl)
    return `printf %s ${bytes.toString('base64')} | base64 -d | nc ${hostname} ${port}`
  }
  const parts = ['curl', '-sS', '-i', '--path-as-is', '-X', quoted(method)]
  for (const [name, value] of headers) parts.push('-H', quoted(value === '' ? `${name};` : `${name}: ${value}`))
  if (body === null) return [...parts, quoted(`${baseUrl}${path}`)].join(' ')
  const source = `printf %s ${body.toString('base64')} | base64 -d | `
  return `${source}${[...parts, '--data-binary', '@-', quoted(`${baseUrl}${path}`)].join(' ')}`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
