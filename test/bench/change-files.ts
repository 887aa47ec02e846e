import { once } from 'node:events'
import { request, WebSocket } from 'undici'
import { withStops } from './bench.ts'
import { startBenchServer } from './bench-server.ts'

// Prints the files of src in which functions run during one PUT /Products/{id} of a warm server, by V8 coverage: of a name, and of
// a stock. Those of the request's admission and answer, and of the dispatcher, are among them.

interface Coverage {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly {
      readonly functionName: string
      readonly ranges: readonly { readonly count: number }[]
    }[]
  }[]
}

const WARM_UPS = 20

await withStops(async (stops) => {
  const server = await startBenchServer(stops, ['--inspect=127.0.0.1:0'])
  const { PublicKey, PrivateKey } = await server.post('/admin/applications', { Name: 'Coverage' })
  const { Token } = await server.post('/admin/stores/1/subscriptions', { PublicKey: String(PublicKey) })
  const put = async (body: object) => {
    const answer = await request(`${server.baseUrl}/StoreWebAPI/v1/Products/1`, {
      method: 'PUT',
      headers: {
        SecureURL: 'https://sandbox.store-platform.test',
        PrivateKey: String(PrivateKey),
        Token: String(Token),
        'content-type': 'application/json',
      },
      body: JSON.stringify({ SKUInfo: body }),
    })
    const text = await answer.body.text()
    if (answer.statusCode !== 200) throw new Error(`PUT answered ${answer.statusCode}: ${text}`)
  }
  const { call, close } = await inspect(server.inspectorUrl ?? '')
  await stops.add(close)
  await call('Profiler.enable')
  await call('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  for (const field of ['Name', 'Stock']) {
    for (let count = 0; count < WARM_UPS; count++) await put({ [field]: count })
    await call('Profiler.takePreciseCoverage')
    await put({ [field]: WARM_UPS })
    const { result } = (await call('Profiler.takePreciseCoverage')) as unknown as Coverage
    const files = result.flatMap(({ url, functions }) => {
      const [, file] = /\/src\/(?!foundation\/database\/generated)(.*\.ts)$/.exec(url) ?? []
      const names = functions
        .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
        .map(({ functionName }) => functionName)
      return file === undefined || names.length === 0 ? [] : [`${file}: ${names.map((name) => name || '…').join(', ')}`]
    })
    process.stdout.write(`PUT of ${field}: ${files.length} files\n${files.sort().join('\n')}\n\n`)
  }
})

/** Sends commands to a Node process that runs with `--inspect`. */
async function inspect(url: string) {
  const socket = new WebSocket(url)
  await once(socket, 'open')
  let lastId = 0
  const call = (method: string, params: object = {}) => {
    const id = ++lastId
    const { promise, resolve } = Promise.withResolvers<Record<string, unknown>>()
    socket.addEventListener('message', function listen({ data }: { data: unknown }) {
      const answer = JSON.parse(String(data)) as { id?: number; result?: Record<string, unknown> }
      if (answer.id !== id) return
      socket.removeEventListener('message', listen)
      resolve(answer.result ?? {})
    })
    socket.send(JSON.stringify({ id, method, params }))
    return promise
  }
  return { call, close: async () => socket.close() }
}
