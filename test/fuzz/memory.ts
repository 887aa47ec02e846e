import { once } from 'node:events'
import { WebSocket } from 'undici'
import type { Run } from '../support/run-server.ts'

export interface HeapMeter {
  /** What the process still holds after a full collection. */
  readonly usedMb: () => Promise<number>
  readonly close: () => void
}

/** Connects to the inspector of a process that was started with `--inspect`. */
export async function openHeapMeter(run: Run): Promise<HeapMeter> {
  const [url = ''] = /ws:\/\/\S+/.exec(await run.shows(/ws:\/\/\S+/)) ?? []
  const socket = new WebSocket(url)
  await once(socket, 'open')
  let lastId = 0
  const call = (method: string) => {
    const id = ++lastId
    const { promise, resolve } = Promise.withResolvers<Record<string, number>>()
    socket.addEventListener('message', function listen({ data }: { data: unknown }) {
      const answer = JSON.parse(String(data)) as { id?: number; result?: Record<string, number> }
      if (answer.id !== id) return
      socket.removeEventListener('message', listen)
      resolve(answer.result ?? {})
    })
    socket.send(JSON.stringify({ id, method }))
    return promise
  }
  return {
    usedMb: async () => {
      await call('HeapProfiler.collectGarbage')
      const { usedSize = 0 } = await call('Runtime.getHeapUsage')
      return usedSize / 1024 / 1024
    },
    close: () => socket.close(),
  }
}
