import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/** The oldest Node that runs the server. */
const floor = '22.19'
const [major, minor] = floor.split('.').map(Number) as [number, number]

function textOf(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../../../../${path}`, import.meta.url)), 'utf8')
}

test('README, package.json and the start name the same oldest Node', () => {
  const { engines } = JSON.parse(textOf('package.json'))
  expect(engines.node).toBe(`>=${floor}`)
  expect(JSON.parse(textOf('package-lock.json')).packages[''].engines.node).toBe(engines.node)
  expect(textOf('README.md')).toContain(`Node ${floor} or later`)
  expect(textOf('src/start.js')).toContain(`const NODE_MIN = [${major}, ${minor}]`)
})

test('the code is compiled against the types of that Node, so that nothing newer is used', () => {
  expect(JSON.parse(textOf('package.json')).devDependencies['@types/node']).toMatch(new RegExp(`^${floor}\\.\\d+$`))
})

test('the Node that npm ci brings and the one of the image are not older', () => {
  const brought = JSON.parse(textOf('package.json')).devDependencies.node
  const [, ofImage] = /^FROM node:(\d+)/m.exec(textOf('Dockerfile')) ?? []
  expect(Number.parseInt(brought, 10)).toBeGreaterThan(major)
  expect(Number(ofImage)).toBeGreaterThan(major)
})
