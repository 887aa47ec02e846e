import { readFileSync } from 'node:fs'

export const rulesFile = new URL('../../monitoring/alerts.yml', import.meta.url)
const dashboardFile = new URL('../../monitoring/grafana-dashboard.json', import.meta.url)

export interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number }
  readonly datasource?: { readonly uid: string }
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } }
  readonly targets?: readonly { readonly expr: string; readonly refId: string; readonly datasource: { uid: string } }[]
}

export interface Dashboard {
  readonly uid: string
  readonly panels: readonly Panel[]
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly definition?: string }[]
  }
}

export function readDashboard(): Dashboard {
  return JSON.parse(readFileSync(dashboardFile, 'utf8'))
}

export interface Alert {
  readonly name: string
  readonly expr: string
  /** All of it, as it stands in the file. */
  readonly text: string
}

/** The alerts of the rules, which are written in one form: `expr` is a block of indented lines. */
export function readAlerts(): Alert[] {
  const [, ...alerts] = readFileSync(rulesFile, 'utf8').split(/^ {6}- alert: /m)
  return alerts.map((text) => {
    const [, expr = ''] = /^ {8}expr: \|\n((?: {10}.*\n)+)/m.exec(text) ?? []
    return { name: text.slice(0, text.indexOf('\n')), expr, text }
  })
}

export interface Selector {
  readonly metric: string
  /** The labels that it names in braces, each with the value if it asks for one exactly. */
  readonly labels: readonly { readonly name: string; readonly value: string | null }[]
}

const operators = new Set(['and', 'or', 'unless', 'offset', 'bool', 'by', 'without', 'on', 'ignoring'])

/** The metrics that an expression of PromQL selects, and the labels by which it groups and joins. */
export function readExpression(expr: string): { selectors: Selector[]; grouping: string[] } {
  const grouping: string[] = []
  const selectors: Selector[] = []
  const withoutGrouping = expr.replace(
    /\b(?:by|on|ignoring|without|group_left|group_right)\s*\(([^)]*)\)/g,
    (_, list) => {
      grouping.push(...list.split(',').flatMap((label: string) => label.trim() || []))
      return ' '
    },
  )
  const pattern =
    /([a-zA-Z_:][\w:]*)\s*(\{(?:[^}"]|"(?:[^"\\]|\\.)*")*\}|\()?|\[[^\]]*\]|\d+(?:\.\d+)?(?:e\d+|[smhdw])?/g
  for (const [, metric, rest = ''] of withoutGrouping.matchAll(pattern)) {
    if (metric === undefined || rest === '(' || operators.has(metric)) continue
    const matchers = rest.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"/g)
    const labels = [...matchers].map(([, name = '', operator, value = '']) => ({
      name,
      value: operator === '=' && !value.startsWith('$') ? value : null,
    }))
    selectors.push({ metric, labels })
  }
  return { selectors, grouping }
}
