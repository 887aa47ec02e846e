import type { Answer, Language } from './browser.ts'
import { type Form, formsIn, linksIn } from './html.ts'
import type { Report } from './report.ts'
import { delay, type Role, roles, type Scene } from './scene.ts'

/** Of addresses that differ in ids and values alone. */
const ALIKE_MAX = 4
const PAGES_MAX = 1_500
/** The longest that a page is waited for. */
const WAIT_MS = 20_000
const languages: readonly Language[] = ['en', 'de']

/** Addresses that no two crawls answer alike, each with its reason. */
export const leftOut: readonly (readonly [address: RegExp, reason: string])[] = [
  [/^\/metrics/, 'figures of the process'],
  [/^\/operator\/sizes/, 'sizes of the database'],
]

/** What a walk over somebody's pages found. */
export interface Walk {
  /** The first address of each pattern. */
  readonly patterns: Map<string, string>
  readonly pages: string[]
  readonly forms: Form[]
}

/** Ids and tokens do not count, and of a query the names alone do. */
export function patternOf(address: string): string {
  const [path = '', query = ''] = address.split('?', 2)
  const names = [...new Set(new URLSearchParams(query).keys())].sort()
  return `${path.replace(/\/[\w-]{20,}(?=\/|$)/g, '/x').replace(/\d+/g, '0')}?${names}`
}

/** Asks for an address, again while the page waits for work in the background. */
export async function opened(scene: Scene, role: Role, address: string, language: Language): Promise<Answer> {
  const end = Date.now() + WAIT_MS
  for (;;) {
    const answer = await scene.sessions[role].open(address, language)
    if (!goesOn(answer) || Date.now() > end) return answer
    await delay(50)
  }
}

/** Whether a page shows something that is under way: an import, a delivery, an event without a place in the feed. */
function goesOn({ headers, text }: Answer): boolean {
  const isWaiting = /class="right">\s*<span class="quiet">(not yet|noch nicht)/.test(text)
  return 'refresh' in headers || isWaiting || (/\sdata-follow=/.test(text) && !text.includes('/developers/inbox/'))
}

/** Writes every page that a role reaches by links, breadth first. */
export async function walk(scene: Scene, report: Report, role: Role, language: Language, file: string): Promise<Walk> {
  const found: Walk = { patterns: new Map(), pages: [], forms: [] }
  const waiting = [...scene.starts[role]]
  const alike = new Map<string, number>()
  const seen = new Set<string>()
  for (
    let address = waiting.shift();
    address !== undefined && found.pages.length < PAGES_MAX;
    address = waiting.shift()
  ) {
    const pattern = patternOf(address)
    const count = alike.get(pattern) ?? 0
    if (seen.has(address) || count >= ALIKE_MAX || leftOut.some(([one]) => one.test(address))) continue
    seen.add(address)
    alike.set(pattern, count + 1)
    const answer = await opened(scene, role, address, language)
    report.add(file, `GET ${address}`, answer)
    found.pages.push(address)
    if (!found.patterns.has(pattern)) found.patterns.set(pattern, address)
    const location = String(answer.headers.location ?? '')
    if (location.startsWith('/')) waiting.push(location.replace(/#.*/, ''))
    if (!/html/.test(String(answer.headers['content-type']))) continue
    found.forms.push(...formsIn(answer.text, address))
    waiting.push(...linksIn(answer.text, address))
  }
  return found
}

/** Writes the pages of every role in both languages, and what each role is answered at the others' addresses. */
export async function crawlPages(scene: Scene, report: Report): Promise<Map<Role, Walk>> {
  const english = new Map<Role, Walk>()
  for (const role of roles) {
    for (const language of languages) {
      const found = await walk(scene, report, role, language, `pages/${role}-${language}.txt`)
      if (language === 'en') english.set(role, found)
      console.log(`${role} ${language}: ${found.pages.length} pages, ${found.patterns.size} patterns`)
    }
  }
  const all = new Map([...english.values()].flatMap(({ patterns }) => [...patterns]))
  for (const role of roles) {
    const strange = [...all].filter(([pattern]) => !english.get(role)?.patterns.has(pattern))
    for (const language of languages) {
      for (const [, address] of strange) {
        report.add(
          `pages/${role}-${language}-others.txt`,
          `GET ${address}`,
          await scene.sessions[role].open(address, language),
        )
      }
    }
    console.log(`${role}: ${strange.length} addresses of others`)
  }
  return english
}
