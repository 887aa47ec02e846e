import { expect, test } from 'vitest'
import { browserName } from '../../../src/texts/browsers.ts'
import { english, languageOf } from '../../../src/texts/language.ts'

const gecko = 'AppleWebKit/537.36 (KHTML, like Gecko)'
const iOS = 'AppleWebKit/605.1.15 (KHTML, like Gecko)'

test.each([
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${gecko} Chrome/143.0.0.0 Safari/537.36`, 'Chrome on Windows'],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${gecko} Chrome/143.0.0.0 Safari/537.36 Edg/143.0.0.0`,
    'Edge on Windows',
  ],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${gecko} Chrome/143.0.0.0 Safari/537.36 OPR/125.0.0.0`,
    'Opera on Windows',
  ],
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:146.0) Gecko/20100101 Firefox/146.0', 'Firefox on Windows'],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:146.0) Gecko/20100101 Firefox/146.0', 'Firefox on Linux'],
  [`Mozilla/5.0 (X11; Linux x86_64) ${gecko} HeadlessChrome/143.0.0.0 Safari/537.36`, 'Chrome on Linux'],
  [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${gecko} Chrome/143.0.0.0 Safari/537.36`, 'Chrome on ChromeOS'],
  [`Mozilla/5.0 (Linux; Android 10; K) ${gecko} Chrome/143.0.0.0 Mobile Safari/537.36`, 'Chrome on Android'],
  [
    `Mozilla/5.0 (Linux; Android 10; K) ${gecko} SamsungBrowser/29.0 Chrome/136.0.0.0 Mobile Safari/537.36`,
    'Samsung Internet on Android',
  ],
  [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${iOS} Version/26.1 Safari/605.1.15`, 'Safari on macOS'],
  [
    `Mozilla/5.0 (iPhone; CPU iPhone OS 18_7 like Mac OS X) ${iOS} Version/26.1 Mobile/15E148 Safari/604.1`,
    'Safari on an iPhone',
  ],
  [
    `Mozilla/5.0 (iPad; CPU OS 18_7 like Mac OS X) ${iOS} CriOS/143.0.0.0 Mobile/15E148 Safari/604.1`,
    'Chrome on an iPad',
  ],
  ['Firefox', 'Unknown browser'],
  ['Firefox/146.0', 'Firefox'],
  ['curl/8.17.0', 'Unknown browser'],
  [`Mozilla/5.0 (X11; Linux x86_64) ${iOS} Version/26.0 Safari/605.1.15`, 'Unknown browser on Linux'],
  ['An app (iPhone; iOS 26.1)', 'Unknown browser on an iPhone'],
  ['', 'Unknown browser'],
])('%s', (userAgent, name) => {
  expect(english(browserName(userAgent))).toBe(name)
})

test('in German', () => {
  const { say } = languageOf('de-DE')
  const named = ['Firefox/146.0 (Windows)', 'Firefox/146.0 (iPhone)', '(Android)', '(iPad)', '']
    .map(browserName)
    .map(say)
  expect(named).toEqual([
    'Firefox unter Windows',
    'Firefox auf einem iPhone',
    'Unbekannter Browser unter Android',
    'Unbekannter Browser auf einem iPad',
    'Unbekannter Browser',
  ])
})
