import { expect, test } from 'vitest'
import { type Panel, readDashboard } from '../../support/monitoring.ts'

/** Grafana's notation for the variable. */
const DATA_SOURCE = ['$', '{datasource}'].join('')

const dashboard = readDashboard()
const { panels } = dashboard
const shown = panels.filter(({ type }) => type !== 'row')

test('has rows of panels, each with an id of its own', () => {
  expect(panels.filter(({ type }) => type === 'row').map(({ title }) => title)).toEqual([
    'Overview',
    'Requests and errors',
    'Saturation',
    'Webhooks',
    'Database',
    'Backups and certificate',
  ])
  expect(shown.length).toBeGreaterThan(40)
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
})

test('no panel lies on another, or beyond the 24 columns', () => {
  const cells = new Map<string, string>()
  for (const { title, gridPos } of panels) {
    expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24)
    for (const cell of cellsOf(gridPos)) {
      expect(cells.get(cell), `${title} lies on another`).toBeUndefined()
      cells.set(cell, title)
    }
  }
})

function cellsOf({ x, y, w, h }: Panel['gridPos']): string[] {
  return Array.from({ length: w * h }, (_, index) => `${x + (index % w)} ${y + Math.floor(index / w)}`)
}

test.each(shown.map((panel) => [panel.title, panel] as const))(
  '%s: says what it shows, in which unit, of which source',
  (_, panel) => {
    expect(panel.description).toMatch(/^[A-Z0-9].*\.$/)
    expect(panel.fieldConfig?.defaults.unit).toMatch(/^\w+$/)
    expect(panel.datasource?.uid).toBe(DATA_SOURCE)
    const targets = panel.targets ?? []
    expect(targets.length).toBeGreaterThan(0)
    expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length)
    for (const { expr, datasource } of targets) {
      expect(datasource.uid).toBe(DATA_SOURCE)
      expect(expr).toContain('job="$job"')
    }
  },
)

test('has titles that differ, and the variables that it uses', () => {
  expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length)
  const { list } = dashboard.templating
  expect(list.map(({ name, type }) => [name, type])).toEqual([
    ['datasource', 'datasource'],
    ['job', 'query'],
    ['instance', 'query'],
  ])
  const used = new Set(JSON.stringify(dashboard).match(/\$\{?[a-z]\w+/g))
  expect([...used].toSorted()).toEqual(['$instance', '$job', DATA_SOURCE.slice(0, -1)])
})
