import { readFileSync } from 'node:fs'
import { readOpenApi } from '../support/openapi.ts'
import { faultsOf } from './check.ts'
import { drawOf } from './draw.ts'
import { type Installation, openInstallation } from './installation.ts'
import { type HeapMeter, openHeapMeter } from './memory.ts'
import { mutateRequest } from './mutate-request.ts'
import { requestLines } from './request-lines.ts'
import { type FuzzAnswer, type FuzzRequest, shellLine } from './requests.ts'
import { envelope } from './soap-envelope.ts'
import { documentedOperations, type FuzzOperation, type Ground } from './surface-openapi.ts'
import { pageOperations } from './surface-pages.ts'
import { soapOperations } from './surface-soap.ts'
import { restHeaders, type Survey, takeSurvey } from './survey.ts'

export interface FuzzOptions {
  readonly databaseUrl: string
  readonly seed: number
  readonly count: number
  readonly concurrency: number
  /** Only these of the requests; empty: all. */
  readonly only: readonly number[]
  readonly onFinding?: (finding: Finding) => void
  readonly onProgress?: (done: number) => void
}

export interface Finding {
  readonly index: number
  readonly operation: string
  readonly mutations: readonly string[]
  readonly fault: string
  readonly shell: string
  readonly status: number | null
  readonly answer: string
}

export interface FuzzResult {
  /** The first of each kind of fault at each operation. */
  readonly findings: readonly Finding[]
  /** By status. */
  readonly statuses: ReadonlyMap<number, number>
  /** Operations of which no request succeeded. */
  readonly unanswered: readonly string[]
  readonly memory: { readonly heapGrowthMb: number; readonly rssPeakMb: number; readonly metricsKb: number }
  /** Slowest answer. */
  readonly slowest: { readonly index: number; readonly operation: string; readonly ms: number }
}

/** So many of a hundred requests go to each kind of operation. */
const shares: Readonly<Record<FuzzOperation['kind'], number>> = {
  rest: 54,
  soap: 13,
  operator: 10,
  oauth: 4,
  page: 9,
  form: 7,
  line: 3,
}
/** After so many requests the access to the stores is looked at, and after so many what the server holds. */
const BATCH = 250
const SURVEY_EVERY = 2_000
const FINDINGS_MAX = 200
/** Lines about a prefix or a namespace that is not served, which requests ask for. */
const advice = /"setting":"(?:REST_PREFIXES|SOAP_NAMESPACES)"/
/** The growth of what the process holds after a full collection, from the first quarter of the run to its end. */
export const HEAP_GROWTH_MAX_MB = 48
export const RSS_MAX_MB = 512
/** What `/metrics` may have in the end, which Prometheus reads every 15 s. */
export const METRICS_MAX_KB = 300

/** Sends `count` requests made from the seed to a server that is started for them, and says what was wrong with the answers. */
export async function fuzz(options: FuzzOptions): Promise<FuzzResult> {
  const installation = await openInstallation(options.databaseUrl, options.concurrency)
  const heap = await openHeapMeter(installation.run)
  try {
    return await fuzzInstallation(options, installation, heap)
  } finally {
    heap.close()
    await installation.stop()
  }
}

async function fuzzInstallation(
  options: FuzzOptions,
  installation: Installation,
  heap: HeapMeter,
): Promise<FuzzResult> {
  const { seed, count, only } = options
  const api = readOpenApi((await installation.json('GET', '/openapi.json', {})) as object)
  const operations = [
    ...documentedOperations(api),
    ...(await soapOperations()),
    ...(await pageOperations()),
    requestLines,
  ]
  const tally = createTally(options, installation, operations)
  const indices = only.length > 0 ? only : Array.from({ length: count }, (_, index) => index)
  let ground: Ground = { installation, api, survey: await takeSurvey(installation, api) }
  let early: number | null = null
  for (let start = 0; start < indices.length; start += BATCH) {
    if (start > 0) ground = await lookedAfter(ground, start)
    if (early === null && start >= indices.length / 4) early = await heap.usedMb()
    const batch = indices.slice(start, start + BATCH).values()
    const work = async () => {
      for (const index of batch) await tally.answered(ground, requestAt(seed, index, operations, ground), index)
    }
    await Promise.all(Array.from({ length: options.concurrency }, work))
    options.onProgress?.(Math.min(start + BATCH, indices.length))
    if (!tally.goesOn()) break
  }
  const late = await heap.usedMb()
  const { body } = await installation.send({ method: 'GET', path: '/metrics', headers: [], body: null })
  return tally.result({
    heapGrowthMb: early === null ? 0 : late - early,
    rssPeakMb: rssPeakMb(installation.run.process.pid ?? 0),
    metricsKb: body.length / 1000,
  })
}

export function requestAt(
  seed: number,
  index: number,
  operations: readonly FuzzOperation[],
  ground: Ground,
): FuzzRequest {
  const draw = drawOf(seed, index)
  let place = draw.int(1, 100)
  const kind = Object.entries(shares).find(([, share]) => {
    place -= share
    return place <= 0
  })?.[0]
  const made = draw.oneOf(operations.filter((one) => one.kind === kind)).make(draw, ground)
  if (made.bytes !== undefined) return made
  const network = ['x-forwarded-for', `10.${draw.int(0, 255)}.${draw.int(0, 255)}.1`] as const
  return sendable(mutateRequest(draw, { ...made, headers: [...made.headers, network] }))
}

/** What the client itself would refuse: characters that cannot stand in a request line or in a header, and lengths of its own. */
function sendable(request: FuzzRequest): FuzzRequest {
  const path = request.path.toWellFormed().replace(/[^\x21-\x7e]/g, encodeURIComponent)
  const headers = request.headers
    .filter(
      ([name]) => !['content-length', 'transfer-encoding', 'connection', 'expect', 'host'].includes(name.toLowerCase()),
    )
    .map(([name, value]) => [name, value.replace(/[^\t\x20-\x7e]/g, '')] as const)
  return { ...request, path: path.startsWith('/') ? path : `/${path}`, headers }
}

/** Requests may take from the stores what the others need, such as a subscription or a session; and they delete records. */
async function lookedAfter({ installation, api, survey }: Ground, start: number): Promise<Ground> {
  const isWhole = await hasAccess(installation, survey)
  const renewed = isWhole ? installation : await installation.renewed()
  const isOld = !isWhole || start % SURVEY_EVERY === 0
  return { installation: renewed, api, survey: isOld ? await takeSurvey(renewed, api) : survey }
}

async function hasAccess({ home, send }: Installation, { visited }: Survey): Promise<boolean> {
  const rest = { path: '/StoreWebAPI/v1/OrderStatus', headers: Object.entries(restHeaders(home)) }
  const start = { merchant: '/admin', developer: '/developers/applications', customer: '/account' }
  const pages = Object.entries(start).map(([role, path]) => {
    return { path, headers: [['cookie', visited[role as keyof typeof start].browser.cookie()] as const] }
  })
  const count = envelope('getProductCount', Object.entries({ storeUrl: home.secureUrl, userKey: home.userKey }))
  const cartApi = await send({ method: 'POST', path: '/cart.asmx', ...count })
  const answers = await Promise.all([rest, ...pages].map((one) => send({ method: 'GET', body: null, ...one })))
  return answers.every(({ status }) => status === 200) && cartApi.body.includes('ProductQuantity')
}

function createTally(options: FuzzOptions, installation: Installation, operations: readonly FuzzOperation[]) {
  const findings = new Map<string, Finding>()
  const statuses = new Map<number, number>()
  const unanswered = new Set(operations.map(({ name }) => name))
  let slowest = { index: -1, operation: '', ms: 0 }
  let isAlive = true
  installation.run.exited.then(() => {
    isAlive = false
  })
  let logged = installation.run.output().length
  const add = (request: FuzzRequest, index: number, fault: string, answer: FuzzAnswer | null) => {
    const key = `${request.operation} ${fault.replace(/\d+/g, '0').slice(0, 60)}`
    if (findings.has(key)) return
    const { operation, mutations } = request
    const text = answer?.body.toString().slice(0, 600) ?? ''
    const shell = shellLine(request, installation.baseUrl)
    const finding = { index, operation, mutations, fault, shell, status: answer?.status ?? null, answer: text }
    findings.set(key, finding)
    options.onFinding?.(finding)
  }
  return {
    goesOn: () => isAlive && findings.size < FINDINGS_MAX,
    answered: async (ground: Ground, request: FuzzRequest, index: number) => {
      if (!isAlive) return
      const sentAt = performance.now()
      try {
        const answer = await installation.send(request)
        const ms = performance.now() - sentAt
        if (ms > slowest.ms) slowest = { index, operation: request.operation, ms }
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
        if (answer.status < 400) unanswered.delete(request.operation)
        noteGrants(ground.survey, answer)
        for (const fault of faultsOf(ground, request, answer)) add(request, index, fault, answer)
      } catch (error) {
        add(request, index, `there was no answer: ${(error as Error).message}`, null)
      }
      const output = installation.run.output()
      // Requests at the same time share the log, so that another of them may have been meant.
      const lines = output.slice(logged).split('\n')
      const unexpected = lines.filter((line) => line !== '' && !advice.test(line)).join('\n')
      if (unexpected !== '')
        add(request, index, `the server logged about this time: ${unexpected.slice(0, 2_000)}`, null)
      logged = output.length
    },
    result: (memory: FuzzResult['memory']): FuzzResult => {
      return { findings: [...findings.values()], statuses, unanswered: [...unanswered], memory, slowest }
    },
  }
}

/** The tokens that OAuth gives out, for the requests that use them. */
function noteGrants({ accessTokens }: Survey, { status, body }: FuzzAnswer): void {
  const [, token] = (status === 200 && /"access_token":"(\w+)"/.exec(body.toString('latin1', 0, 200))) || []
  if (token !== undefined) accessTokens.push(token)
}

/** From /proc, which Linux alone has; elsewhere 0. */
function rssPeakMb(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}
