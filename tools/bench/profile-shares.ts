import type { CpuProfile } from './inspector.ts'

/** What a time is spent on: decided by the innermost function on the stack that one of these patterns knows. */
const parts: readonly { name: string; places: RegExp }[] = [
  { name: 'compose', places: /\/src\/engine\/reader\.ts$/ },
  { name: 'read, parse', places: /\/src\/engine\// },
  { name: 'encode', places: /\/src\/http\/rest\/answer\.ts$/ },
  { name: 'Prisma', places: /\/@prisma\/|^wasm:|\/src\/foundation\/database\// },
  { name: 'pg', places: /\/node_modules\/pg/ },
  {
    name: 'log, metrics',
    places:
      /\/node_modules\/(pino|@pinojs|sonic-boom|prom-client)|\/src\/(http\/server\/(request-log|metrics)|access\/applications\/call-log|foundation\/process\/log)\.ts$/,
  },
  { name: 'HTTP', places: /\/node_modules\/|^node:_?http/ },
  { name: 'routes, access', places: /\/src\// },
  { name: 'garbage', places: /^\(garbage collector\)$/ },
]

export const partNames: readonly string[] = parts.map(({ name }) => name)

/** The parts' shares of the time that was not idle; what no pattern knows (sockets, the event loop) makes up the rest. */
export function sharesOf({ nodes, samples, timeDeltas }: CpuProfile): Map<string, number> {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  const partOf = (id: number | undefined): string => {
    if (id === undefined) return 'rest of Node'
    const { functionName, url } = byId.get(id)?.callFrame ?? { functionName: '', url: '' }
    return parts.find(({ places }) => places.test(url) || places.test(functionName))?.name ?? partOf(parents.get(id))
  }
  const times = new Map<string, number>()
  let total = 0
  samples.forEach((id, index) => {
    if (byId.get(id)?.callFrame.functionName === '(idle)') return
    const time = timeDeltas[index] ?? 0
    const part = partOf(id)
    times.set(part, (times.get(part) ?? 0) + time)
    total += time
  })
  return new Map([...times].map(([part, time]) => [part, time / total]))
}
