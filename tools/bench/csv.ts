import { setTimeout as delay } from 'node:timers/promises'
import { createProgress } from '../../src/cli/progress.ts'
import { StartupError } from '../../src/foundation/process/startup-error.ts'
import type { BenchOptions, Stops } from './bench.ts'
import { type BenchServer, startBenchServer } from './bench-server.ts'
import { markdownTable } from './markdown-table.ts'
import { signInTo } from './pages.ts'
import { median, number } from './rest-table.ts'

/** Manufacturers and categories that the rows name in turn. */
const NAMES = 200

const WARMING_ROWS = 2_000

/** The columns of a product: as an export, the former platform and somebody else call them, and a value. */
const columns: readonly (readonly [own: string, former: string, other: string, cellOf: (row: number) => string])[] = [
  ['SKUInfo.SKU', 'id', 'Article', (row) => `SKU-${row}`],
  ['SKUInfo.Name', 'name', 'Called', (row) => `Cotton bag number ${row}`],
  ['MFGID', 'mfgid', 'Part', (row) => `M-${row}`],
  ['SKUInfo.Cost', 'cost', 'Buying', (row) => `${(row % 90) + 0.5}`],
  ['SKUInfo.Price', 'price', 'Selling', (row) => `${(row % 90) + 9.95}`],
  ['SKUInfo.RetailPrice', 'price2', 'Recommended', (row) => `${(row % 90) + 12.95}`],
  ['SKUInfo.Stock', 'stock', 'There', (row) => `${row % 500}`],
  ['Weight', 'weight', 'Grams', (row) => `${row % 40}`],
  ['FreeShipping', 'free_shipping', 'Sent free', (row) => `${row % 2}`],
  ['NonTaxable', 'nontax', 'Untaxed', (row) => `${row % 2}`],
  ['ShortDescription', 'description', 'In short', (row) => `A bag of cotton, ${row} of them`],
  [
    'Description',
    'extended_description',
    'At length',
    (row) => `<p>${'A bag of cotton for the shopping. '.repeat(6)}${row}</p>`,
  ],
  ['Keywords', 'keywords', 'Found by', () => 'bag cotton shopping'],
  ['Hide', 'hide', 'Unseen', () => '0'],
  ['ThumbnailFile', 'thumbnail', 'Small picture', (row) => `assets/images/${row}t.jpg`],
  ['MainImageFile', 'image1', 'Picture', (row) => `assets/images/${row}.jpg`],
  ['ExtraField1', 'extra_field_1', 'More', (row) => `Extra ${row}`],
  ['ManufacturerID', 'manufacturer', 'Maker', (row) => `Maker ${row % NAMES}`],
]

/** A kind of file, by the place of its headings in `columns`. */
interface Case {
  readonly title: string
  readonly kind: 0 | 1 | 2
  readonly hasCategories?: true
}

const cases: readonly Case[] = [
  { title: 'export', kind: 0 },
  { title: 'former platform', kind: 1 },
  { title: 'the same with categories', kind: 1, hasCategories: true },
  { title: 'other headings, assigned', kind: 2 },
]

/**
 * Prints how long products of a CSV file take to be read, to be added and to be read again, by whose headings the file has, each in a
 * store of its own. Kinds of files are read in turns, so that what else the machine does disturbs all alike.
 */
export async function benchCsv({ rounds, cases: chosen, sizes }: BenchOptions, stops: Stops): Promise<void> {
  const wanted = cases.filter(({ title }) => chosen.length === 0 || chosen.some((text) => title.includes(text)))
  const server = await startBenchServer(stops)
  const counts = sizes.map(rowsIn)
  // What runs first would pay for the compilation of what all run.
  await measure(server, wanted, { count: WARMING_ROWS, rounds: 1, advance: () => {} })
  const progress = createProgress({ label: 'Measuring', total: wanted.length * counts.length * (2 * rounds + 1) })
  const rows: string[][] = []
  for (const count of counts) {
    for (const [{ title }, times] of await measure(server, wanted, {
      count,
      rounds,
      advance: () => progress.advance(1),
    })) {
      const of = (part: keyof Times) => number(median(times[part]))
      rows.push([title, count.toLocaleString('en-US'), of('sentS'), of('assignedS'), of('addedS'), of('sameS')])
    }
  }
  progress.done()
  process.stdout.write(markdownTable(['file', 'rows', 'read s', 'assigned s', 'added s', 'read again s'], rows))
}

function rowsIn(size: string): number {
  const [, digits, thousands] = /^(\d+)(k?)$/.exec(size) ?? []
  if (digits === undefined)
    throw new StartupError(`--sizes has ${size}; allowed are numbers of rows such as 500 or 100k`)
  return Number(digits) * (thousands ? 1_000 : 1)
}

interface Times {
  /** Until the file that is sent is read, or kept. */
  readonly sentS: number[]
  /** Until it is read by what its columns were said to mean; 0: nobody is asked. */
  readonly assignedS: number[]
  readonly addedS: number[]
  /** The same file, which changes nothing any more: both together. */
  readonly sameS: number[]
}

let stores = 0

interface Measuring {
  readonly count: number
  readonly rounds: number
  readonly advance: () => void
}

async function measure(
  server: BenchServer,
  wanted: readonly Case[],
  { count, rounds, advance }: Measuring,
): Promise<ReadonlyMap<Case, Times>> {
  const shops: { readonly ask: Asker; readonly one: Case; readonly file: string }[] = []
  for (const one of wanted) shops.push({ ...(await openShop(server)), one, file: fileOf(one, count) })
  const measured = new Map(
    wanted.map((one): [Case, Times] => [one, { sentS: [], assignedS: [], addedS: [], sameS: [] }]),
  )
  const timesOf = (one: Case) => measured.get(one) as Times
  const readings = async (note: (shop: (typeof shops)[number], read: Read) => void) => {
    for (let round = 0; round < rounds; round++) {
      for (const shop of shops) {
        note(shop, await read(shop.ask, shop.file))
        advance()
      }
    }
  }
  const addresses = new Map<Case, string>()
  await readings(({ one }, { address, sentS, assignedS }) => {
    addresses.set(one, address)
    timesOf(one).sentS.push(sentS)
    timesOf(one).assignedS.push(assignedS)
  })
  for (const { one, ask } of shops) {
    timesOf(one).addedS.push(await apply(ask, addresses.get(one) ?? ''))
    advance()
  }
  await readings(({ one }, { sentS, assignedS }) => timesOf(one).sameS.push(sentS + assignedS))
  return measured
}

/** A new store that has the manufacturers, because an export names what is there. */
async function openShop(server: BenchServer) {
  const account = { Email: `csv-${++stores}@bench.example`, Password: 'correct horse battery' }
  const store = { Name: 'CSV', SecureURL: `https://csv-${stores}.example`, Currency: 'USD', ...account }
  await server.post('/admin/stores', store)
  const ask = asker(server.baseUrl, await signInTo(server, account))
  const names = Array.from({ length: NAMES }, (_, n) => `Maker ${n}`).join('\n')
  await apply(ask, (await ask.send('manufacturers', `ManufacturerName\n${names}\n`)).address)
  return { ask }
}

interface Read {
  readonly address: string
  readonly sentS: number
  readonly assignedS: number
}

async function read(ask: Asker, file: string): Promise<Read> {
  const sent = await ask.send('products', file)
  if (!sent.address.endsWith('/columns')) return { address: sent.address, sentS: sent.seconds, assignedS: 0 }
  const assigned = await ask.assign(sent.address)
  return { address: assigned.address, sentS: sent.seconds, assignedS: assigned.seconds }
}

function fileOf({ kind, hasCategories }: Case, count: number): string {
  const all = hasCategories
    ? [...columns, ['', 'categories', '', (row: number) => `Bags@Bags/Cotton ${row % NAMES}`] as const]
    : columns
  const lines = [all.map((column) => column[kind]).join(',')]
  for (let row = 1; row <= count; row++) lines.push(all.map(([, , , cellOf]) => `"${cellOf(row)}"`).join(','))
  return `${lines.join('\n')}\n`
}

type Asker = ReturnType<typeof asker>

/** A merchant's requests. */
function asker(baseUrl: string, cookie: string) {
  const headers = { accept: 'text/html', cookie }
  const open = async (path: string) => {
    const answer = await fetch(`${baseUrl}${path}`, { headers })
    // That of the form's token.
    for (const set of answer.headers.getSetCookie()) headers.cookie += `; ${set.split(';', 1)[0]}`
    return answer.text()
  }
  const tokenOf = (page: string) => /name="_csrf" value="([^"]+)"/.exec(page)?.[1] ?? ''
  const timed = async (path: string, body: FormData | URLSearchParams) => {
    const startMs = performance.now()
    const answer = await fetch(`${baseUrl}${path}`, { method: 'POST', headers, body, redirect: 'manual' })
    const text = await answer.text()
    if (answer.status !== 303) throw new Error(`${path} answered ${answer.status}: ${text.slice(0, 3_000)}`)
    return { address: answer.headers.get('location') ?? '', seconds: (performance.now() - startMs) / 1_000 }
  }
  return {
    open,
    send: async (service: string, file: string) => {
      const path = `/admin/${service}/csv`
      const form = new FormData()
      form.set('_csrf', tokenOf(await open(path)))
      form.set('file', new Blob([file]), 'products.csv')
      return timed(path, form)
    },
    assign: async (path: string) => {
      const form = new URLSearchParams({ _csrf: tokenOf(await open(path)) })
      for (const [place, [own]] of columns.entries()) form.set(`column.${place}`, own)
      return timed(path, form)
    },
    press: async (path: string) =>
      timed(path, new URLSearchParams({ _csrf: tokenOf(await open(path.replace('/apply', ''))) })),
  }
}

/** Has the changes of a file made, and returns how many seconds that takes. */
async function apply(ask: Asker, address: string): Promise<number> {
  const startMs = performance.now()
  await ask.press(`${address}/apply`)
  while ((await ask.open(address)).includes('id="progress"')) await delay(200)
  return (performance.now() - startMs) / 1_000
}
