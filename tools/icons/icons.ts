import { readFileSync } from 'node:fs'

/** The icon of each state, and of each area by its address below /admin, as @primer/octicons calls it. */
const states = { ok: 'check-circle', warn: 'alert', bad: 'x-circle', info: 'clock', neutral: 'dash' }
const areas = {
  '': 'home',
  '/orders': 'inbox',
  '/products': 'package',
  '/customers': 'people',
  '/payments': 'credit-card',
  '/reports': 'graph',
  '/records': 'table',
  '/modules/rest-api': 'plug',
  '/modules/cartapi': 'code',
  '/webhooks': 'webhook',
  '/people': 'organization',
  '/settings': 'gear',
  '/history': 'history',
  '/audit': 'log',
  '/outbox': 'mail',
  '/account': 'person',
  '/change-store': 'arrow-switch',
}

/** The file of icons: masks, which have the colour of the text beside them. */
export function iconsText(): string {
  const rules = [
    ...Object.entries(states).map(([state, name]) => ruleOf(`.badge.${state}`, name)),
    ...Object.entries(areas).map(([area, name]) => ruleOf(`header.site [href="/admin${area}"]`, name)),
  ]
  return `/* Icons of @primer/octicons (MIT, GitHub Inc.), written by npm run icons. */\n${rules.join('')}`
}

function ruleOf(selector: string, name: string): string {
  const file = import.meta.resolve(`@primer/octicons/build/svg/${name}-16.svg`)
  const svg = readFileSync(new URL(file), 'utf8').trim()
  const inUrl = svg.replaceAll('"', "'").replaceAll(/[<>#%]/g, encodeURIComponent)
  return `${selector} {\n  --icon: url("data:image/svg+xml,${inUrl}");\n}\n`
}
