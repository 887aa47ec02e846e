// The client for TypeScript, as npm installs it. routes.ts loads this at the first request, because few processes are asked for it.

import { readdirSync, readFileSync } from 'node:fs'
import { gzipSync } from 'fflate'

const folder = new URL('../../../clients/typescript/', import.meta.url)

/**
 * Packs the files of the client. The bytes are the same on every machine, because npm's lock files have their hash: Node's own gzip differs
 * by version and processor.
 */
export function packClient(): Buffer {
  const compiled = readdirSync(new URL('lib/', folder)).map((name) => `lib/${name}`)
  const files = ['package.json', 'README.md', ...compiled.toSorted()]
  const entries = files.map((name) => entryOf(`package/${name}`, readFileSync(new URL(name, folder))))
  // Two empty blocks end an archive.
  return Buffer.from(gzipSync(Buffer.concat([...entries, Buffer.alloc(2 * BLOCK)]), { level: 9, mtime: 0 }))
}

const BLOCK = 512

/** A file in an archive (POSIX ustar), of nobody and of no time. */
function entryOf(name: string, content: Buffer): Buffer {
  const header = Buffer.alloc(BLOCK)
  header.write(name, 0)
  header.write('0000644', 100)
  for (const at of [108, 116]) header.write('0000000', at)
  header.write(content.length.toString(8).padStart(11, '0'), 124)
  header.write('00000000000', 136)
  // The sum of all bytes is reckoned with blanks in its own place.
  header.write('        0', 148)
  header.write('ustar\u000000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return Buffer.concat([header, content, Buffer.alloc(-content.length & (BLOCK - 1))])
}
