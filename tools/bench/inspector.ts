import { once } from 'node:events'
import { WebSocket } from 'undici'

export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string }
    readonly children?: readonly number[]
  }[]
  readonly samples: readonly number[]
  /** Microseconds. */
  readonly timeDeltas: readonly number[]
}

export interface Inspector {
  /** What the other process does while `work` runs. */
  profile(work: () => Promise<unknown>): Promise<CpuProfile>
  close(): Promise<void>
}

/** Connects to a Node process that runs with `--inspect`. */
export async function openInspector(url: string): Promise<Inspector> {
  const socket = new WebSocket(url)
  await once(socket, 'open')
  let lastId = 0
  const call = (method: string) => {
    const id = ++lastId
    const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>()
    const listen = ({ data }: { data: unknown }) => {
      const answer = JSON.parse(String(data)) as { id?: number; result?: Record<string, unknown>; error?: object }
      if (answer.id !== id) return
      socket.removeEventListener('message', listen)
      if (answer.result) resolve(answer.result)
      else reject(new Error(`${method}: ${JSON.stringify(answer.error)}`))
    }
    socket.addEventListener('message', listen)
    socket.send(JSON.stringify({ id, method }))
    return promise
  }
  await call('Profiler.enable')
  return {
    profile: async (work) => {
      await call('Profiler.start')
      await work()
      const { profile } = await call('Profiler.stop')
      return profile as CpuProfile
    },
    close: async () => socket.close(),
  }
}
