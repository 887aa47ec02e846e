import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createZstdDecompress } from 'node:zlib'
import { StartupError } from '../../../foundation/process/startup-error.ts'
import { CHECKSUM_BYTES, End, Header, refuseOtherFormat } from './header.ts'

/** A backup file whose checksum is right. */
export interface Backup {
  readonly file: string
  readonly header: Header
  /** The numbers of rows, in the order of the header's tables. */
  readonly rows: readonly number[]
  /** What its compressed part holds. */
  readonly content: () => AsyncIterable<Buffer>
}

const HEADER_BYTES_MAX = 4 * 1024 * 1024
const END_BYTES_MAX = 64 * 1024

/** Reads all of a file and throws `StartupError` unless it is a backup that is exactly as it was written. */
export async function openBackup(file: string): Promise<Backup> {
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    throw new StartupError(`${file} cannot be read (${error.code ?? error.message})`)
  })
  try {
    const { size } = await handle.stat()
    const beginning = await bytesAt(handle, 0, Math.min(size, HEADER_BYTES_MAX))
    refuseOtherFormat(beginning.toString('latin1'), file)
    await refuseDamage(handle, size, file)
    const tailAt = Math.max(0, size - CHECKSUM_BYTES - END_BYTES_MAX)
    const tail = await bytesAt(handle, tailAt, size - CHECKSUM_BYTES - tailAt)
    const [headerEnd, endStart] = [beginning.indexOf('\n'), tail.lastIndexOf('\n', -2)]
    const { rows } = End.parse(JSON.parse(tail.subarray(endStart).toString()))
    const part = { start: headerEnd + 1, end: tailAt + endStart - 1 }
    const header = Header.parse(JSON.parse(beginning.subarray(0, headerEnd).toString()))
    return { file, header, rows, content: () => uncompressed(file, part) }
  } finally {
    await handle.close()
  }
}

/** A file that is cut off, or in which a byte is not as it was written, has another checksum. */
async function refuseDamage(handle: FileHandle, size: number, file: string): Promise<void> {
  const hash = createHash('sha256')
  const end = size - CHECKSUM_BYTES
  const stream = createReadStream(file, { end: Math.max(end - 1, 0) })
  for await (const chunk of stream) hash.update(chunk)
  const checksum = await bytesAt(handle, Math.max(end, 0), CHECKSUM_BYTES)
  if (checksum.toString('latin1') === `${hash.digest('hex')}\n`) return
  throw new StartupError(`${file} is cut off or damaged: its checksum is wrong. Take another backup`)
}

async function bytesAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(length), position })
  return buffer.subarray(0, bytesRead)
}

function uncompressed(file: string, part: { start: number; end: number }): AsyncIterable<Buffer> {
  // Errors of both reach the reader of the result.
  return pipeline(createReadStream(file, part), createZstdDecompress(), () => {})
}
