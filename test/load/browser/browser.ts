import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AxeResults } from 'axe-core'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { expect } from 'vitest'
import { openServer, type TestServer } from '../../support/store.ts'

/** Where Debian and others put a browser that playwright-core can drive; one without windows takes a quarter less time. */
const places = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/opt/google/chrome/chrome',
]

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
]

const executablePath = [process.env.BROWSER ?? '', ...places].find((path) => path !== '' && existsSync(path))

/** Without a browser these tests are left out, unless REQUIRE_BROWSER says that there must be one. */
export const hasBrowser = executablePath !== undefined || process.env.REQUIRE_BROWSER === 'true'

export function launchBrowser(): Promise<Browser> {
  if (executablePath === undefined) throw new Error(`No browser in ${places.join(', ')}, and BROWSER names none`)
  return chromium.launch({ executablePath, args: flags })
}

const screenshots = fileURLToPath(new URL('../../../test-output/screenshots/', import.meta.url))

export interface ListeningServer extends TestServer {
  /** Such as http://localhost:40123; its PUBLIC_URL. */
  readonly origin: string
}

/** The whole application on a port of its own, in the present time, which may call this machine. */
export async function openListeningServer(settings: Record<string, string> = {}): Promise<ListeningServer> {
  const port = await freePort()
  const server = await openServer({
    PORT: String(port),
    OUTBOUND_ALLOW: '127.0.0.0/8',
    DEVELOPER_SIGNUP: 'open',
    ...settings,
  })
  server.clock.ms = Date.now()
  await server.app.listen({ host: '127.0.0.1', port })
  return { ...server, origin: `http://localhost:${port}` }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  probe.once('listening', resolve).once('error', reject)
  await promise
  const { port } = probe.address() as { port: number }
  await new Promise((done) => probe.close(done))
  return port
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const desk = { width: 1200, height: 850 }
const phone = { width: 390, height: 844 }

/** Both sizes, both schemes and both languages, of which each has rules of its own to break. */
const looks = [
  { look: 'desk', viewport: desk, colorScheme: 'light', language: 'en-US', rules: null },
  { look: 'phone-dark', viewport: phone, colorScheme: 'dark', language: 'de-DE', rules: rulesOfLooks() },
] as const

/** What a page can break in another size, scheme or language alone; all else is in its elements, which are the same. */
function rulesOfLooks() {
  return ['color-contrast', 'scrollable-region-focusable', 'html-has-lang', 'html-lang-valid']
}

const phoneWidths = [320, 360, 390]
/** That of a desk at 200 %, where tables may scroll in their place. */
const zoomed = { width: 640, height: 450 }

/** What is wider than its room: the page, or a part of it that scrolls by itself. Fields scroll what is typed. */
const sideways = `[...document.querySelectorAll('*:not(input, textarea, select)')]
  .filter((each) => each === document.documentElement || /auto|scroll/.test(getComputedStyle(each).overflowX))
  .filter((each) => each.scrollWidth > each.clientWidth)
  .map((each) => each.outerHTML.slice(0, 150))`

/** By how much the page is wider than the window. */
const overhang = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'

/** Keeps a picture of the page in test-output/screenshots, with SCREENSHOTS set. */
export async function picture(page: Page, name: string): Promise<void> {
  if (process.env.SCREENSHOTS) await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true })
}

/**
 * Looks at a page as people do: at a desk, and on phones in the dark. No accessibility rule is broken, the page never scrolls
 * sideways, and on a phone nothing in it does. With SCREENSHOTS set, its pictures are kept in test-output/screenshots. `again` opens the
 * page again in the other language, whose words are longer; without it, the page is looked at as it is.
 */
export async function inspect(page: Page, name: string, again?: () => Promise<unknown>): Promise<void> {
  for (const { look, viewport, colorScheme, language, rules } of looks) {
    if (again !== undefined) {
      await page.setExtraHTTPHeaders({ 'accept-language': language })
      await again()
      expect({ name, look, lang: await page.locator('html').getAttribute('lang') }).toMatchObject({
        lang: isEnglish(page) ? 'en' : language.slice(0, 2),
      })
    }
    await page.evaluate(axe)
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await picture(page, `${name}-${look}`)
    const { violations } = (await page.evaluate(
      `axe.run(${JSON.stringify({ resultTypes: ['violations'], preload: false, ...(rules && { runOnly: rules }) })})`,
    )) as AxeResults
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 150)).join(' | ')}`)
    expect({ name, look, found }).toMatchObject({ found: [] })
    expect({ name, look, overhang: await page.evaluate(overhang) }).toMatchObject({ overhang: 0 })
  }
  for (const width of phoneWidths) {
    await page.setViewportSize({ ...phone, width })
    expect({ name, width, sideways: await page.evaluate(sideways) }).toMatchObject({ sideways: [] })
  }
  await page.setViewportSize(zoomed)
  expect({ name, zoomed: await page.evaluate(overhang) }).toMatchObject({ zoomed: 0 })
  await page.setViewportSize(desk)
  if (again !== undefined) await page.setExtraHTTPHeaders({})
}

/** The documentation is in one language. */
function isEnglish(page: Page): boolean {
  return new URL(page.url()).pathname.startsWith('/docs')
}

/** A context whose pages fail the test that opens them when the browser's console shows an error or a foreign host is asked. */
export async function openContext(
  browser: Browser,
  origin: string,
  faults: string[],
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const permissions = ['clipboard-read', 'clipboard-write']
  const context = await browser.newContext({ baseURL: origin, permissions, ...options })
  // Below the time of a test, so that what was waited for is told.
  context.setDefaultTimeout(10_000)
  context.on('console', (message) => {
    // A page that a form was refused on is a 4xx or 502, which the console tells too.
    if (message.type() === 'error' && !/status of (4\d\d|502)/.test(message.text())) faults.push(message.text())
  })
  context.on('weberror', (error) => faults.push(String(error.error())))
  return context
}
