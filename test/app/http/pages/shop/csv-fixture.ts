import { expect } from 'vitest'
import type { TestPerson } from '../../../../support/person.ts'
import type { TestServer } from '../../../../support/store.ts'

/** The pages of CSV imports, as a merchant uses them. */
export function csvPages(now: () => { server: TestServer; merchant: TestPerson }) {
  return {
    /** Sends a file, and returns the address of its page. */
    takeIn: async (service: string, file: string | Uint8Array): Promise<string> => {
      const { statusCode, headers, body } = await now().merchant.upload(`/admin/${service}/csv`, file)
      expect(statusCode, body).toBe(303)
      return String(headers.location)
    },
    /** Chooses what columns of a file mean, by heading, beside what is chosen already, and returns the address of its preview. */
    assign: async (address: string, chosen: Readonly<Record<string, string>> = {}): Promise<string> => {
      const { statusCode, headers, body } = await now().merchant.submit(address, await fieldsAt(now(), address, chosen))
      expect(statusCode, wordsOf(body)).toBe(303)
      return String(headers.location)
    },
    /** Chooses likewise, and returns what the page says of it. */
    refusedChoice: async (address: string, chosen: Readonly<Record<string, string>>): Promise<string> => {
      const { statusCode, body } = await now().merchant.submit(address, await fieldsAt(now(), address, chosen))
      expect(statusCode).toBe(400)
      return wordsOf(/role="alert">([\s\S]*?)<\/div>/.exec(body)?.[1] ?? '').replace('Please correct: ', '')
    },
    /** What is chosen for each heading; empty: nothing yet. */
    choicesAt: async (address: string): Promise<Record<string, string>> =>
      choicesIn((await now().merchant.open(address)).body),
    /** Sends a file that is refused, and returns what the page says. */
    refusalOf: async (service: string, file: string | Uint8Array): Promise<string> => {
      const { statusCode, body } = await now().merchant.upload(`/admin/${service}/csv`, file)
      expect(statusCode).toBe(400)
      expect(body).toContain(`action="/admin/${service}/csv"`)
      return wordsOf(/role="alert">([\s\S]*?)<\/div>/.exec(body)?.[1] ?? '').replace('Please correct: ', '')
    },
    apply: async (address: string): Promise<void> => {
      const { server, merchant } = now()
      expect((await merchant.submit(address, {}, { action: `${address}/apply` })).statusCode).toBe(303)
      await server.services.csvImports.settle()
    },
    /** The lines of a table of the page, as their cells' words; what may be a slip of them where they are `marked`. */
    linesAt: async (address: string, show: string): Promise<string[][]> => {
      const { body } = await now().merchant.open(`${address}?show=${show}`)
      const table = body.match(/<tbody[\s\S]*?<\/tbody>/g)?.at(-1) ?? ''
      return rowsIn(show === 'marked' ? table : table.replaceAll(slip, ''))
    },
    /** What the page says of each heading of a file. */
    meaningsAt: async (address: string): Promise<Record<string, string>> => {
      const { body } = await now().merchant.open(address)
      return Object.fromEntries(rowsIn(/<tbody[\s\S]*?<\/tbody>/.exec(body)?.[0] ?? ''))
    },
    /** How the tabs of the page count its lines. */
    countsAt: async (address: string): Promise<string[]> => {
      const { body } = await now().merchant.open(address)
      const tabs = /aria-label="(?:Lines of the file|Records)"[\s\S]*?<\/nav>/.exec(body)?.[0] ?? ''
      return [...tabs.matchAll(/>([^<]+ \(\d[\d,]*\))</g)].map(([, text = '']) => text)
    },
  }
}

const slip = /<br><span class="badge bad">[^<]+<\/span> \S?<bdi>(?:(?!<br>|<\/td>|spreadsheet).)*(?=<br>|<\/td>)/g

function rowsIn(table: string): string[][] {
  const rows = table.match(/<tr[\s\S]*?<\/tr>/g) ?? []
  return rows.map((row) => [...row.matchAll(/<t[hd][^>]*>([\s\S]*?)<\/t[hd]>/g)].map(([, cell = '']) => wordsOf(cell)))
}

async function fieldsAt(
  { merchant }: { merchant: TestPerson },
  address: string,
  chosen: Readonly<Record<string, string>>,
) {
  const { body } = await merchant.open(address)
  const choices = { ...choicesIn(body), ...chosen }
  return Object.fromEntries(
    headingsIn(body).flatMap(([field, heading]) => (heading in choices ? [[field, choices[heading] ?? '']] : [])),
  )
}

function headingsIn(page: string): [field: string, heading: string][] {
  return [...page.matchAll(/<bdi id="(column\.\d+)-heading">([\s\S]*?)<\/bdi>/g)].map(
    ([, field = '', heading = '']) => [field, wordsOf(heading)],
  )
}

function choicesIn(page: string): Record<string, string> {
  const headings = new Map(headingsIn(page))
  const selects = page.matchAll(/<select id="(column\.\d+)"[\s\S]*?<\/select>/g)
  return Object.fromEntries(
    [...selects].map(([select, field = '']) => [
      headings.get(field) ?? '',
      /<option value="([^"]*)" selected/.exec(select)?.[1] ?? '',
    ]),
  )
}

export const wordsOf = (html: string) =>
  html
    .replaceAll(/<br>/g, ' | ')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll(/\s+/g, ' ')
    .trim()
