import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Busboy } from '@fastify/busboy'
import type { Caller } from '../../engine/caller.ts'
import type { Body, Taken } from '../../engine/definition/endpoints.ts'
import { PICTURE_BYTES_MAX } from '../../foundation/pictures/bounds.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { type PictureServices, storePicture } from '../../shop/pictures/pictures.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The method that may have a picture in the place of a record. */
    takesPicture?: 'POST' | 'PUT'
  }
}

const FIELDS_MAX = 10
const FIELD_BYTES_MAX = 70_000

/** Whether a body of this media type is a picture, or a form with one. */
export function isPictureType(mediaType: string): boolean {
  return mediaType.startsWith('image/') || mediaType === 'multipart/form-data'
}

/** Reads a body that is a picture, or a form whose file is one and whose fields are members of the record. */
export async function readPictureBody(contentType: string, bytes: Buffer): Promise<Body> {
  if (!/^multipart\//i.test(contentType)) return bodyOf(bytes, {}, '')
  const members: Record<string, string> = {}
  const file: { part?: string; readonly chunks: Buffer[] } = { chunks: [] }
  let isCut = false
  try {
    const limits = { files: 1, fields: FIELDS_MAX, fieldSize: FIELD_BYTES_MAX }
    const parser = new Busboy({ headers: { 'content-type': contentType }, limits })
    parser.on('field', (name, value, _isNameCut, isValueCut) => {
      members[name] = value
      isCut ||= isValueCut
    })
    for (const limit of ['filesLimit', 'fieldsLimit'] as const) parser.on(limit, () => (isCut = true))
    parser.on('file', (name, stream) => {
      file.part = name
      stream.on('data', (chunk: Buffer) => file.chunks.push(chunk))
    })
    await pipeline(Readable.from([bytes]), parser)
  } catch {
    throw new StoreFailure('malformed-body', 'The body is not valid multipart/form-data')
  }
  if (file.part === undefined || isCut) {
    throw new StoreFailure('malformed-body', `The form must have one file and at most ${FIELDS_MAX} short fields`)
  }
  return bodyOf(Buffer.concat(file.chunks), members, file.part)
}

/** An Idempotency-Key compares the text. The boundary of a form differs from one attempt to the next. */
function bodyOf(bytes: Buffer, members: Readonly<Record<string, string>>, part: string): Body {
  const text = createHash('sha256')
    .update(JSON.stringify([members, part]))
    .update(bytes)
    .digest('hex')
  return { format: 'json', text, picture: { bytes, members, part } }
}

/** Stores the picture of a body, and returns the record that says its address. */
export async function recordOfPicture(
  services: PictureServices,
  { store }: Pick<Caller, 'store'>,
  { bytes, members, part }: NonNullable<Body['picture']>,
  taken: Taken | undefined,
): Promise<object> {
  const all = taken?.type.fields.entries.filter(([, field]) => 'isImage' in field && field.isImage) ?? []
  const [member = ''] = all.find(([name]) => name.toLowerCase() === part.toLowerCase()) ?? all[0] ?? []
  if (bytes.length > PICTURE_BYTES_MAX) {
    throw new StoreFailure('body-too-large', `The picture is larger than ${PICTURE_BYTES_MAX / 1024 ** 2} MB`)
  }
  const path = await storePicture(services, store.id, bytes, member)
  return { ...members, [member]: `${services.config.publicUrl}${path}` }
}
