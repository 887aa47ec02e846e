import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Busboy } from '@fastify/busboy'
import { OAuthRefusal } from './refusal.ts'

/**
 * Returns the fields of a whole `multipart/form-data` body as `application/x-www-form-urlencoded`. Refuses a file, and a body that
 * is not multipart (400). Some HTTP libraries send every form as multipart.
 */
export async function formOfMultipart(contentType: string, body: Buffer): Promise<string> {
  const form = new URLSearchParams()
  let hasFile = false
  try {
    const isPartAFile = (_name: unknown, _type: unknown, fileName: unknown) => fileName !== undefined
    const parser = new Busboy({ headers: { 'content-type': contentType }, isPartAFile })
    parser.on('field', (name, value) => form.append(name, value))
    parser.on('file', (_name, file) => {
      hasFile = true
      file.resume()
    })
    await pipeline(Readable.from([body]), parser)
  } catch {
    throw new OAuthRefusal('invalid_request', 'The body is not valid multipart/form-data')
  }
  if (hasFile) throw new OAuthRefusal('invalid_request', 'The form has a file: send each parameter as a text')
  return String(form)
}
