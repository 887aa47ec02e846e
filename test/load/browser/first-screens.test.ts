import { execFileSync } from 'node:child_process'
import { readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxFile } from '../../../src/foundation/process/data-folder.ts'
import { programVersion } from '../../../src/foundation/process/version.ts'
import { curlLine } from '../../../src/foundation/process/welcome.ts'
import { freePort, runServer, temporaryFolder } from '../../support/run-server.ts'
import { hasBrowser, inspect, openBrowser } from './browser.ts'

describe.skipIf(!hasBrowser)('the first screens of a new installation', () => {
  const folder = temporaryFolder()
  let stage: Awaited<ReturnType<typeof openBrowser>>
  let sandbox: SandboxFile
  beforeAll(async () => {
    const port = process.env.PICTURES ? 3000 : await freePort()
    const server = runServer({ DATA_DIR: join(folder, '.data'), PORT: String(port) })
    const close = async () => {
      await server.end()
      rmSync(folder, { recursive: true })
    }
    stage = await openBrowser({ origin: `http://localhost:${port}`, close })
    await server.shows('Base address')
    sandbox = JSON.parse(readFileSync(join(folder, '.data/sandbox.json'), 'utf8'))
  })
  afterAll(() => stage?.close())

  test.each(['en-US', 'de-DE'])('the start page fits a phone, and tells strangers no secret: %s', async (locale) => {
    const page = await stage.visit(undefined, { locale, viewport: { width: 390, height: 844 } })
    await page.goto('/')
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBe(844)
    const { store, developer, application, operatorKey } = sandbox
    const shown = [new URL(stage.origin).host, programVersion, store.email, developer.email, '.data/sandbox.json']
    const secrets = [store.password, store.userKey, developer.password, ...Object.values(application), operatorKey]
    const html = await page.content()
    expect([...shown, ...secrets].filter((each) => html.includes(each))).toEqual(shown)
    await inspect(page, `start-${locale}`)
  })

  test('merchant and program get in by what the first command shows; PICTURES makes the pictures of it anew', async () => {
    const line = curlLine(`${stage.origin}/StoreWebAPI`, { ...sandbox.store, ...sandbox.application })
    const answer = execFileSync('/bin/sh', ['-c', line], { encoding: 'utf8', stdio: 'pipe' })
    expect(JSON.parse(answer)).toHaveLength(3)
    const page = await stage.visit(undefined, { bypassCSP: true, viewport: { width: 1280, height: 618 } })
    const { email: Email, password: Password } = sandbox.store
    await page.request.post('/admin/sign-in', { data: { Email, Password } })
    await page.goto('/admin/orders/349')
    await page.getByRole('heading', { name: 'Order AB-1348' }).waitFor()
    await page.addStyleTag({ path: join(import.meta.dirname, 'first-screens.css') })
    const command = line.replace(" 'http:", " \\\n    'http:").replace(/\b(\w{8})\w{24}\b/g, '$1…')
    const terminal = { className: 'terminal', textContent: `$ ${command}\n${answer}` }
    const element = `Object.assign(document.createElement('pre'), ${JSON.stringify(terminal)})`
    await page.evaluate(`document.body.append(${element})`)
    for (const colorScheme of ['light', 'dark'] as const) {
      const path = `docs/pictures/first-screens-${colorScheme}.png`
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      if (process.env.PICTURES) await page.screenshot({ path })
      expect(statSync(path).size).toBeLessThan(150_000)
      expect(readFileSync('README.md', 'utf8')).toContain(`"${path}"`)
    }
  })
})
