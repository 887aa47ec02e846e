import { expect } from 'vitest'
import type { TestPerson } from '../../../support/person.ts'
import type { TestServer } from '../../../support/store.ts'

/** The pages of CSV imports, as a merchant uses them. */
export function csvPages(now: () => { server: TestServer; merchant: TestPerson }) {
  return {
    /** Sends a file, and returns the address of its page. */
    takeIn: async (service: string, file: string | Uint8Array): Promise<string> => {
      const { statusCode, headers, body } = await now().merchant.upload(`/admin/${service}/csv`, file)
      expect(statusCode, body).toBe(303)
      return String(headers.location)
    },
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
    /** The lines of a table of the page, as their cells' words. */
    linesAt: async (address: string, show: string): Promise<string[][]> => {
      const { body } = await now().merchant.open(`${address}?show=${show}`)
      const rows = /<tbody[\s\S]*?<\/tbody>/.exec(body)?.[0].match(/<tr[\s\S]*?<\/tr>/g) ?? []
      return rows.map((row) =>
        [...row.matchAll(/<t[hd][^>]*>([\s\S]*?)<\/t[hd]>/g)].map(([, cell = '']) => wordsOf(cell)),
      )
    },
    /** How the tabs of the page count its lines. */
    countsAt: async (address: string): Promise<string[]> => {
      const { body } = await now().merchant.open(address)
      const tabs = /aria-label="Lines of the file"[\s\S]*?<\/nav>/.exec(body)?.[0] ?? ''
      return [...tabs.matchAll(/>([^<]+ \(\d[\d,]*\))</g)].map(([, text = '']) => text)
    },
  }
}

export const wordsOf = (html: string) =>
  html
    .replaceAll(/<br>/g, ' | ')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll(/\s+/g, ' ')
    .trim()
