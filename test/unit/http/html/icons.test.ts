import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { iconsText } from '../../../../tools/icons/icons.ts'

test('icons.css has the icons of the list (`npm run icons` writes it)', () => {
  const file = new URL('../../../../src/http/html/assets/icons.css', import.meta.url)
  expect(readFileSync(file, 'utf8')).toBe(iconsText())
})
