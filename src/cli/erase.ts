import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { StartupError } from '../foundation/process/startup-error.ts'
import { callJson, change, checkServer } from './new-store/installation.ts'
import { openPrompt } from './new-store/prompt.ts'
import { runProgram } from './run-program.ts'
import { findServer, readStoreId } from './server.ts'

const usage = `Usage: npm run erase -- --store ID (--customer N | --email A | --phone P | --order N | --years N | --list) [--yes]
Erases a person from a store of the running server: a customer, or a guest by e-mail address, telephone number or order; --years:
all customers without an order for so many years. Says first what goes, and asks; without a terminal it only says so, unless --yes
is given. It cannot be undone. --list: who was erased.
`

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const named = { customer: text, email: text, phone: text, order: text, years: text, list: flag }

/** Erasures that are listed at a time. */
const PAGE = 500

await runProgram(usage, main)

type Numbers = Readonly<Record<'Orders' | 'Returns' | 'GiftRegistries', readonly number[]>>
interface Erased extends Numbers {
  readonly Confirm: string
  readonly CustomerID: number | null
  readonly Unshipped: number
  readonly Counts: Readonly<Record<string, number>>
}
type Rehearsed = Erased | { readonly Confirm: string; readonly Customers: number }
type Listed = Pick<Erased, 'CustomerID' | 'Orders' | 'Counts'> & {
  readonly Actor: string
  readonly DateErased: string | null
}

async function main(args: string[], environment: NodeJS.ProcessEnv): Promise<boolean> {
  const { store, yes = false, ...how } = parseArgs({ args, options: { ...named, store: text, yes: flag } }).values
  const [[name, value] = ['', ''], ...others] = Object.entries(how)
  if (store === undefined || name === '' || others.length > 0) throw new StartupError(usage)
  const server = await findServer(environment)
  await checkServer(server)
  const at = `/admin/stores/${readStoreId(store)}`
  if (name === 'list') {
    for (let offset = 0, page: Listed[] = []; offset === 0 || page.length === PAGE; offset += PAGE) {
      page = await callJson<Listed[]>(server, `${at}/erasures?limit=${PAGE}&offset=${offset}`)
      for (const each of page) process.stdout.write(`${listed(each)}\n`)
    }
    return true
  }
  const [path, query, body] = routeOf(name, String(value))
  const rehearsed = await change<Rehearsed>(server, `${at}${path}?${query}dry=true`, body, randomUUID())
  process.stdout.write(inWords(rehearsed))
  if (!yes && !(await isConfirmed())) {
    process.stdout.write('Nothing was erased\n')
    return false
  }
  const { Confirm } = rehearsed
  await change<object>(server, `${at}${path}?${query}`, { ...body, Confirm }, randomUUID())
  process.stdout.write('Customers' in rehearsed ? 'They are being erased; --list says who was\n' : 'Erased\n')
  return true
}

function routeOf(name: string, value: string): readonly [path: string, query: string, body: object] {
  if (name === 'customer') return [`/customers/${encodeURIComponent(value)}/erase`, '', {}]
  if (name === 'years') return ['/customers/erase', '', { Years: Number(value) }]
  return ['/guests/erase', `${name}=${encodeURIComponent(value)}&`, {}]
}

function inWords(rehearsed: Rehearsed): string {
  if ('Customers' in rehearsed) return `${rehearsed.Customers} customers would be erased\n`
  const { CustomerID, Unshipped, Counts } = rehearsed
  const numbers = (['Orders', 'Returns', 'GiftRegistries'] as const)
    .filter((name) => rehearsed[name].length > 0)
    .map((name) => `${name}: ${rehearsed[name].join(', ')}\n`)
  const parcels = Unshipped > 0 ? `Orders with parcels that have not left, whose addresses go too: ${Unshipped}\n` : ''
  return `${personIn(CustomerID)}\n${numbers.join('')}${parcels}${countsIn(Counts)}\nAmounts, goods, dates and numbers stay\n`
}

function listed({ DateErased, Actor, CustomerID, Orders, Counts }: Listed): string {
  const orders = Orders.length > 0 ? `, orders ${Orders.join(', ')}` : ''
  return `${DateErased ?? 'Waits'}  ${personIn(CustomerID)}${orders}; by ${Actor || 'the operator'}; ${countsIn(Counts)}`
}

function personIn(customerId: number | null): string {
  return customerId === null ? 'A guest' : `Customer ${customerId}`
}

function countsIn(counts: Erased['Counts']): string {
  const some = Object.entries(counts).filter(([, count]) => count > 0)
  return `rows with something of the person: ${some.map(([kind, count]) => `${kind} ${count}`).join(', ') || 'none'}`
}

async function isConfirmed(): Promise<boolean> {
  const prompt = openPrompt()
  try {
    return prompt.isTerminal && (await prompt.ask('Erase this for good? yes or no: ')) === 'yes'
  } finally {
    prompt.close()
  }
}
