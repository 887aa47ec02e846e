import type { Writable } from 'node:stream'

/** Writes, and waits as long as the stream has enough. Throws when the stream was closed before. */
export async function writeText(stream: Writable, text: string): Promise<void> {
  if (stream.destroyed) throw new Error('The stream is closed')
  if (!stream.write(text)) await drained(stream)
}

function drained(stream: Writable): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const go = () => {
    stream.off('drain', go).off('close', go)
    resolve()
  }
  stream.on('drain', go).on('close', go)
  return promise
}
