import { once } from 'node:events'
import { type IncomingMessage, type RequestOptions, request } from 'node:http'
import { text } from 'node:stream/consumers'

/** Sends a multipart body, cut into chunks, as fast as the server takes them, and reads the answer at the end, as a browser does. */
export async function sendInChunks(options: RequestOptions, body: Buffer, chunkLength: number) {
  const sent = request({
    host: '127.0.0.1',
    method: 'POST',
    agent: false,
    ...options,
    headers: {
      'content-type': 'multipart/form-data; boundary=b',
      'content-length': body.length,
      ...(options.headers as Record<string, string>),
    },
  })
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>
  for (let from = 0; from < body.length; from += chunkLength) {
    const isRoom = sent.write(body.subarray(from, from + chunkLength))
    if (!isRoom) await once(sent, 'drain')
  }
  sent.end()
  const [answer] = await answered
  return { status: answer.statusCode ?? 0, body: await text(answer) }
}
