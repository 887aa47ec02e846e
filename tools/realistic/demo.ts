import { existsSync } from 'node:fs'
import { createProgress, type Progress } from '../../src/cli/progress.ts'
import { runProgram } from '../../src/cli/run-program.ts'
import { findServer, type Server } from '../../src/cli/server.ts'
import type { Refusal } from '../../src/engine/transfer/import.ts'
import { readSandboxFile, type SandboxFile, sandboxPath } from '../../src/foundation/process/data-folder.ts'
import { readConfig } from '../../src/foundation/process/settings.ts'
import { StartupError } from '../../src/foundation/process/startup-error.ts'
import { importLines } from '../../test/support/import.ts'
import { convertRetail, type RetailCounts, type RetailProgress } from './convert.ts'
import { whereToGetIt } from './real-file.ts'

/*
 * `npm run demo -- FILE`: loads a year of Online Retail beside the sandbox's own records and shows how to look at it.
 * The ids of convert.ts keep the two apart, and make a second run update the first.
 */

const usage = `Usage: npm run demo -- FILE. ${whereToGetIt}`

await runProgram(usage, demo)

async function demo([file]: string[], environment: NodeJS.ProcessEnv): Promise<boolean> {
  if (file === undefined) throw new StartupError(usage)
  if (!existsSync(file)) throw new StartupError(`There is no file ${file}. ${whereToGetIt}`)
  const { dataDir, restPrefixes } = readConfig(environment)
  const sandbox = await readSandboxFile(dataDir)
  if (!sandbox) {
    const start = 'Start the server first, in another terminal: npm start (with the same DATA_DIR)'
    throw new StartupError(`There is no ${sandboxPath(dataDir)}. ${start}`)
  }
  const { counts, refused } = await load(file, await findServer(environment))
  const shown = { ...sandbox, baseUrl: `${sandbox.baseUrl}${restPrefixes[0]}/v1` }
  process.stdout.write(`${describeCounts(counts)}${refused.map(describeRefusal).join('')}${curlLines(shown)}`)
  return refused.length === 0
}

interface Loaded {
  readonly counts: RetailCounts
  readonly refused: readonly Refusal[]
}

/** With two bars: the first pass over the file, whose length is not known before, and the lines that the server has read. */
async function load(file: string, server: Server): Promise<Loaded> {
  let counts: RetailCounts | undefined
  const reading = advancing(createProgress({ label: 'Reading' }))
  let loading: ReturnType<typeof advancing> | undefined
  const onProgress = (progress: RetailProgress) => {
    if (progress.stage === 'survey') return reading.to(progress.done)
    if (loading) return
    reading.done()
    loading = advancing(createProgress({ label: 'Loading', total: progress.total }))
  }
  const onCounts = (given: RetailCounts) => {
    counts = given
  }
  try {
    const lines = convertRetail(file, { onProgress, onCounts })
    const outcome = await importLines(server, lines, (count) => loading?.to(count))
    loading?.to(outcome.counts.lines)
    if (!counts) throw new Error('the file was not read to its end')
    return { counts, refused: outcome.refused }
  } catch (error) {
    throw explained(error as NodeJS.ErrnoException)
  } finally {
    loading?.done()
  }
}

/** The file's own faults, and what the server says, speak for themselves; a broken connection does not. */
function explained({ code = '', message }: NodeJS.ErrnoException): StartupError {
  if (!/^(ECONNRESET|EPIPE|UND_ERR_)/.test(code)) return new StartupError(message)
  return new StartupError(
    `The connection to the server was lost (${message}). What is loaded stays: start it and run this again`,
  )
}

/** A bar that is told how far it is, instead of how much more. */
function advancing(progress: Progress) {
  let shown = 0
  return {
    to: (count: number) => {
      progress.advance(count - shown)
      shown = count
    },
    done: () => progress.done(),
  }
}

function describeCounts({ rows, products, customers, orders, returns, leftOut }: RetailCounts): string {
  const n = (count: number) => count.toLocaleString('en-US')
  const { badDebts, stockCorrections } = leftOut
  return `
${n(rows)} rows of the file: ${n(products)} products and ${n(customers)} customers, and
  ${n(orders.rows)} in ${n(orders.invoices)} orders;
  ${n(returns.rows)} in ${n(returns.invoices)} returns (C…);
  ${n(stockCorrections.rows)} in ${n(stockCorrections.invoices)} stock corrections (no customer, no price): left out;
  ${n(badDebts.rows)} in ${n(badDebts.invoices)} bad-debt adjustments (A…): left out.
`
}

function describeRefusal({ service, id, message }: Refusal): string {
  return `Refused: ${service} ${id}: ${message}\n`
}

function curlLines({ baseUrl, store, application }: SandboxFile): string {
  const headers = { SecureURL: store.secureUrl, PrivateKey: application.privateKey, Token: application.token }
  const options = Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}'`)
  const curl = (path: string) => `curl ${options.join(' ')} '${baseUrl}/${path}'\n`
  return `
A product by its SKU, an order by its invoice number, its return, and how many orders there are:

${curl('Products?sku=85123A')}${curl('Orders?invoicenumber=537217')}${curl('RMA/537402')}${curl('Orders?countonly=1')}`
}
