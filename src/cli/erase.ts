import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { StartupError } from '../foundation/process/startup-error.ts'
import { change, checkServer, find } from './new-store/installation.ts'
import { openPrompt } from './new-store/prompt.ts'
import { runProgram } from './run-program.ts'
import { findServer, readStoreId } from './server.ts'

const usage = `Usage: npm run erase -- --store ID (--customer N | --email A | --phone P | --order N | --years N | --list) [--yes]
Erases a person from a store of the running server: a customer, or a guest by e-mail address, telephone number or order; --years:
all customers without an order for so many years. Says first what goes, and asks; without a terminal it only says so, unless --yes
is given. Amounts, goods, dates and numbers stay. It cannot be undone. --list: who was erased.
`
const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const persons = { customer: text, email: text, phone: text, order: text, years: text, list: flag }

await runProgram(usage, main)

async function main(args: string[], environment: NodeJS.ProcessEnv): Promise<boolean> {
  const { store, yes = false, ...who } = parseArgs({ args, options: { ...persons, store: text, yes: flag } }).values
  const [[name, value] = ['', ''], ...others] = Object.entries(who)
  if (store === undefined || name === '' || others.length > 0) throw new StartupError(usage)
  const server = await findServer(environment)
  await checkServer(server)
  const at = `/admin/stores/${readStoreId(store)}`
  if (name === 'list') {
    const show = (erasure: object) => {
      process.stdout.write(`${told(erasure).join('; ')}\n`)
      return false
    }
    return (await find(server, `${at}/erasures`, show)) === undefined
  }
  const query = name === 'customer' || name === 'years' ? '' : `${name}=${encodeURIComponent(String(value))}&`
  const whom =
    query === '' ? (name === 'years' ? 'customers' : `customers/${encodeURIComponent(String(value))}`) : 'guests'
  const path = `${at}/${whom}/erase?${query}`
  const body = name === 'years' ? { Years: Number(value) } : {}
  const { Confirm, ...shown } = await change<{ Confirm: string }>(server, `${path}dry=true`, body, randomUUID())
  process.stdout.write(`What goes:\n${told(shown).join('\n')}\n`)
  if (!yes && !(await isConfirmed())) {
    process.stdout.write('Nothing was erased\n')
    return false
  }
  await change<object>(server, path, { ...body, Confirm }, randomUUID())
  process.stdout.write(name === 'years' ? 'They are erased one by one; --list says who was\n' : 'Erased\n')
  return true
}

/** The members of an answer that say something. */
function told(answer: object): string[] {
  return Object.entries(answer).flatMap(([name, value]) => {
    const counts = Object.entries(value ?? {}).flatMap(([kind, count]) => (count ? `${kind} ${count}` : []))
    const said = Array.isArray(value) ? value.join(', ') : typeof value === 'object' ? counts.join(', ') : `${value}`
    return said === '' ? [] : `${name}: ${said}`
  })
}

async function isConfirmed(): Promise<boolean> {
  const prompt = openPrompt()
  const answer = prompt.isTerminal ? await prompt.ask('Erase this for good? yes or no: ') : null
  prompt.close()
  return answer === 'yes'
}
