import type { Files } from './files.ts'

const REQUEST_MS_MAX = 30_000

/** Objects of a bucket of an S3 store (S3_URL), whose keys are the paths. An answer that is none of the expected throws, without the keys of access. */
export function s3Files(address: string): Files {
  const url = new URL(address)
  const open = async () => {
    const { AwsClient } = await import('aws4fetch')
    const accessKeyId = decodeURIComponent(url.username)
    const secretAccessKey = decodeURIComponent(url.password)
    const region = url.searchParams.get('region') ?? 'us-east-1'
    return new AwsClient({ accessKeyId, secretAccessKey, region, service: 's3', retries: 3 })
  }
  let opened: ReturnType<typeof open> | undefined
  const bucket = `${url.origin}${url.pathname.replace(/\/$/, '')}`
  const ask = async (method: string, path: string, expected: readonly number[], body?: Uint8Array) => {
    const signal = AbortSignal.timeout(REQUEST_MS_MAX)
    opened ??= open()
    const sent = { method, signal, ...(body && { body: Buffer.from(body) }) }
    const answer = await (await opened).fetch(`${bucket}/${path}`, sent)
    if (expected.includes(answer.status)) return answer
    await answer.body?.cancel()
    throw new Error(`The S3 store answers ${method} of ${path} with status ${answer.status}`)
  }
  return {
    async put(path, bytes) {
      await ask('PUT', path, [200], bytes)
    },
    async open(path) {
      const answer = await ask('GET', path, [200, 404])
      if (answer.status === 200 && answer.body !== null) {
        return { size: Number(answer.headers.get('content-length')), bytes: answer.body }
      }
      await answer.body?.cancel()
      return null
    },
    async remove(path) {
      await ask('DELETE', path, [200, 204, 404])
    },
    // An object is stored whole or not at all.
    tidy: async () => {},
  }
}
