import { existsSync } from 'node:fs'
import { request } from 'undici'
import { createProgress } from '../../src/cli/progress.ts'
import { readSandboxFile, type SandboxFile, sandboxPath } from '../../src/sandbox/file.ts'
import { importLines } from '../support/import.ts'
import { convertRetail, type RetailCounts, type RetailProgress } from './convert.ts'
import { whereToGetIt } from './real-file.ts'

/*
 * `npm run demo -- FILE`: loads a year of Online Retail beside the sandbox's own records and shows how to look at it.
 * The ids of convert.ts keep the two apart, and make a second run update the first.
 */

try {
  await demo(process.argv[2])
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}

async function demo(file: string | undefined) {
  if (file === undefined) throw new Error(`Usage: npm run demo -- FILE. ${whereToGetIt}`)
  if (!existsSync(file)) throw new Error(`There is no file ${file}. ${whereToGetIt}`)
  const sandbox = await readSandbox()
  await expectAnswer(sandbox.baseUrl)

  let counts: RetailCounts | undefined
  const progress = showProgress()
  const lines = convertRetail(file, {
    onProgress: progress.show,
    onCounts: (given) => {
      counts = given
    },
  })
  const target = { baseUrl: sandbox.baseUrl, operatorKey: sandbox.operatorKey, storeId: sandbox.store.id }
  const answer = await importLines(target, lines).catch(explainBreak).finally(progress.end)
  if (answer.status !== 200) throw new Error(`The server answered ${answer.status}: ${answer.body}`)
  process.stdout.write(`${answer.body.trim()}\n`)
  if (counts) process.stdout.write(describe(counts))
  process.stdout.write(curlLines(sandbox))
}

async function readSandbox(): Promise<SandboxFile> {
  const dataDir = process.env.DATA_DIR || '.data'
  const sandbox = await readSandboxFile(dataDir)
  if (sandbox) return sandbox
  throw new Error(
    `There is no ${sandboxPath(dataDir)}. Start the server first, in another terminal: npm start (with the same DATA_DIR)`,
  )
}

async function expectAnswer(baseUrl: string) {
  const answer = await request(`${baseUrl}/healthz`).catch(() => null)
  await answer?.body.dump()
  if (answer?.statusCode !== 200) {
    throw new Error(`No server answers at ${baseUrl}. Start it first, in another terminal: npm start`)
  }
}

function explainBreak(error: unknown): never {
  const { code = '', message } = error as NodeJS.ErrnoException
  if (!['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'ECONNREFUSED'].includes(code)) throw error
  throw new Error(
    `The server went away (${message}). Start it and run this again: what is loaded stays, nothing is doubled`,
  )
}

/** Two bars: the first pass, whose length is not known before, and the lines that the server has taken. */
function showProgress() {
  let bar = createProgress({ label: 'Reading' })
  let stage: RetailProgress['stage'] = 'survey'
  let shown = 0
  return {
    show: (progress: RetailProgress) => {
      if (progress.stage === 'lines' && stage === 'survey') {
        bar.done()
        bar = createProgress({ label: 'Loading', total: progress.total })
        stage = 'lines'
        shown = 0
      }
      bar.advance(progress.done - shown)
      shown = progress.done
    },
    end: () => bar.done(),
  }
}

function describe({ rows, products, customers, orders, returns, leftOut }: RetailCounts): string {
  const n = (count: number) => count.toLocaleString('en-US')
  return `
${n(rows)} rows of the file: ${n(products)} products and ${n(customers)} customers, and
  ${n(orders.rows)} in ${n(orders.invoices)} orders;
  ${n(returns.rows)} in ${n(returns.invoices)} returns (C…): not loaded, they are for the RMA service;
  ${n(leftOut.stockCorrections.rows)} in ${n(leftOut.stockCorrections.invoices)} stock corrections (no customer, no price): left out;
  ${n(leftOut.badDebts.rows)} in ${n(leftOut.badDebts.invoices)} bad-debt adjustments (A…): left out.
`
}

function curlLines({ baseUrl, store, application }: SandboxFile): string {
  const prefix = (process.env.REST_PREFIXES ?? '').split(',')[0]?.trim() || '/StoreWebAPI'
  const headers = `-H 'SecureURL: ${store.secureUrl}' -H 'PrivateKey: ${application.privateKey}' -H 'Token: ${application.token}'`
  const look = (path: string) => `curl -s ${headers} '${baseUrl}${prefix}/v1/${path}'\n`
  return `
A product by its SKU, an order by its invoice number, and how many orders there are:

${look('Products?sku=85123A')}${look('Orders?invoicenumber=536365')}${look('Orders?countonly=1')}`
}
