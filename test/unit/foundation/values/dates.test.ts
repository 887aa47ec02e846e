import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { instantText, nextDay, readDate, writeDate } from '../../../../src/foundation/values/dates.ts'

const newYork = 'America/New_York'

function read(text: string, timeZone = newYork, bound?: 'start' | 'end'): string | null {
  return readDate(text, timeZone, bound)?.instant.toISOString() ?? null
}

describe('a date is read in the store’s zone', () => {
  test.each([
    // rest-protocol §8.2 and rest-resources §0.5, form by form
    ['mm/dd/yyyy hh:mm:ss', '07/11/2012 10:44:08', '2012-07-11T14:44:08.000Z', true],
    ['mm/dd/yyyy hh:mm', '07/11/2012 10:44', '2012-07-11T14:44:00.000Z', true],
    ['mm/dd/yyyy', '07/11/2012', '2012-07-11T04:00:00.000Z', false],
    ['m/d/yyyy', '7/1/2012', '2012-07-01T04:00:00.000Z', false],
    ['m/d/yyyy h:mm:ss AM', '7/1/2012 9:05:06 AM', '2012-07-01T13:05:06.000Z', true],
    ['m/d/yyyy h:mm:ss PM', '7/1/2012 9:05:06 PM', '2012-07-02T01:05:06.000Z', true],
    ['12 AM as midnight', '7/1/2012 12:00:00 AM', '2012-07-01T04:00:00.000Z', true],
    ['12 PM as noon', '7/1/2012 12:00:00 PM', '2012-07-01T16:00:00.000Z', true],
    ['am and pm in small letters, without a blank', '7/1/2012 9:05pm', '2012-07-02T01:05:00.000Z', true],
    ['mm-dd-yyyy hh:mm:ss', '07-11-2012 10:44:08', '2012-07-11T14:44:08.000Z', true],
    ['yyyy-mm-ddThh:mm:ss', '2012-07-11T10:44:08', '2012-07-11T14:44:08.000Z', true],
    ['yyyy-mm-dd hh:mm:ss', '2012-07-11 10:44:08', '2012-07-11T14:44:08.000Z', true],
    ['yyyy-mm-dd', '2025-08-01', '2025-08-01T04:00:00.000Z', false],
    ['a fraction, which is dropped', '2012-07-11T10:44:08.1234567', '2012-07-11T14:44:08.000Z', true],
    ['a time in UTC', '2012-07-11T10:44:08Z', '2012-07-11T10:44:08.000Z', true],
    ['an offset', '2012-07-11T10:44:08+05:30', '2012-07-11T05:14:08.000Z', true],
    ['an offset without a colon', '2012-07-11T10:44:08-0300', '2012-07-11T13:44:08.000Z', true],
    ['blanks around it', ' 07/11/2012 10:44:08\t', '2012-07-11T14:44:08.000Z', true],
    ['winter time', '01/11/2012 10:44:08', '2012-01-11T15:44:08.000Z', true],
    ['a leap day', '02/29/2024', '2024-02-29T05:00:00.000Z', false],
    ['the first year', '01/01/1753', '1753-01-01T04:56:02.000Z', false],
    ['the end of time as .NET says it', '12/31/9999 11:59:59 PM', '+010000-01-01T04:59:59.000Z', true],
  ])('%s: %s', (_form, text, instant, hasTime) => {
    const date = readDate(text, newYork)

    expect(date?.instant.toISOString()).toBe(instant)
    expect(date?.hasTime).toBe(hasTime)
  })
})

describe('what is not a date is not read', () => {
  test.each([
    ['a day that its month lacks', '02/30/2026'],
    ['a leap day of another year', '02/29/2026'],
    ['a thirteenth month', '13/01/2026'],
    ['month and day exchanged', '31/12/2026'],
    ['a month 0', '00/10/2026'],
    ['a day 0', '2026-01-00'],
    ['an hour 24', '01/01/2026 24:00:00'],
    ['an hour 13 PM', '01/01/2026 13:00:00 PM'],
    ['an hour 0 AM', '01/01/2026 0:00:00 AM'],
    ['a minute 60', '01/01/2026 10:60:00'],
    ['a second 60', '01/01/2026 10:00:60'],
    ['an hour alone', '01/01/2026 10'],
    ['two digits of a year', '01/01/26'],
    ['slashes in ISO order', '2026/01/01'],
    ['an offset that no place has', '2026-01-01T10:00:00+15:00'],
    ['an offset of 99 minutes', '2026-01-01T10:00:00+05:99'],
    ['a year before 1753', '12/31/1752'],
    ['a year of five digits', '01/01/10000'],
    ['digits of another script', '٠١/٠١/٢٠٢٦'],
    ['something after it', '01/01/2026; DROP TABLE "Order"'],
    ['a word', 'yesterday'],
    ['nothing', ''],
  ])('%s: %s', (_fault, text) => {
    expect(readDate(text, newYork)).toBeNull()
  })
})

describe('where clocks are changed', () => {
  test('a time that spring skips is the same distance after the gap', () => {
    expect(read('03/08/2026 02:30:00')).toBe(read('03/08/2026 03:30:00'))
    expect(writeDate(new Date(read('03/08/2026 02:30:00') as string), newYork)).toBe('2026-03-08T03:30:00')
  })

  test('a time in the hour that spring skips is by the clock after it for a start, by the clock before it for an end', () => {
    expect(read('03/08/2026 02:30:00', newYork, 'start')).toBe('2026-03-08T06:30:00.000Z')
    expect(read('03/08/2026 02:30:00', newYork, 'end')).toBe('2026-03-08T07:30:00.000Z')
    expect(read('09/06/2026', 'America/Santiago', 'start')).toBe('2026-09-06T04:00:00.000Z')
  })

  test('a time in the hour that autumn repeats is the earlier one for a start, the later one for an end', () => {
    expect(read('11/01/2026 01:30:00', newYork, 'start')).toBe('2026-11-01T05:30:00.000Z')
    expect(read('11/01/2026 01:30:00', newYork, 'end')).toBe('2026-11-01T06:30:00.000Z')
    expect(read('11/01/2026 01:30:00')).toBe('2026-11-01T05:30:00.000Z')
  })

  test.each(['11/01/2026 00:59:59', '11/01/2026 02:00:00'])('%s is not repeated', (text) => {
    expect(read(text, newYork, 'start')).toBe(read(text, newYork, 'end'))
  })

  test('a time with an offset is never ambiguous', () => {
    expect(read('2026-11-01T01:30:00-05:00', newYork, 'start')).toBe('2026-11-01T06:30:00.000Z')
    expect(read('2026-11-01T01:30:00-04:00', newYork, 'end')).toBe('2026-11-01T05:30:00.000Z')
  })

  test.each([
    ['of 23 hours', '03/08/2026', newYork, '2026-03-09T04:00:00.000Z'],
    ['of 25 hours', '11/01/2026', newYork, '2026-11-02T05:00:00.000Z'],
    ['before one that begins at one o’clock', '09/05/2026', 'America/Santiago', '2026-09-06T04:00:00.000Z'],
    ['whose midnight comes twice', '11/01/2026', 'America/Havana', '2026-11-02T05:00:00.000Z'],
    ['in a zone of half an hour', '07/11/2012', 'Asia/Kolkata', '2012-07-11T18:30:00.000Z'],
    ['at the end of a year', '12/31/2026', 'UTC', '2027-01-01T00:00:00.000Z'],
  ])('a day %s ends where the next one begins', (_day, text, timeZone, end) => {
    const start = readDate(text, timeZone, 'end')

    expect(start && nextDay(start.instant, timeZone).toISOString()).toBe(end)
  })

  test('a day that begins at one o’clock begins there', () => {
    expect(read('09/06/2026', 'America/Santiago')).toBe('2026-09-06T04:00:00.000Z')
  })
})

test('the next day is the same from every moment of a day', () => {
  for (const moment of ['2012-07-11T04:00:00.000Z', '2012-07-11T20:15:30.000Z', '2012-07-12T03:59:59.999Z']) {
    expect(nextDay(new Date(moment), newYork).toISOString()).toBe('2012-07-12T04:00:00.000Z')
  }
})

test('an instant is written as local time, without zone and fraction', () => {
  expect(writeDate(new Date('2012-07-11T14:44:08.999Z'), newYork)).toBe('2012-07-11T10:44:08')
})

test('an instant past the year 9999 is told to PostgreSQL in the form that it reads', () => {
  expect(instantText(new Date('2026-01-01T00:00:00Z'))).toBe('2026-01-01T00:00:00.000Z')
  expect(instantText(new Date('+010000-01-01T04:59:59Z'))).toBe('10000-01-01T04:59:59.000Z')
})

const zones = [
  newYork,
  'America/Havana',
  'America/Santiago',
  'America/St_Johns',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Europe/London',
  'UTC',
]

test.each(zones)('what is written is read back as the same instant: %s', (timeZone) => {
  // Often on the days on which clocks are changed in one zone or another.
  const instants = fc
    .oneof(
      between('2000-01-01', '2099-12-31'),
      between('2026-03-07', '2026-03-10'),
      between('2026-10-31', '2026-11-03'),
      between('2026-04-04', '2026-04-07'),
    )
    .map((date) => new Date(Math.floor(date.getTime() / 1000) * 1000))

  fc.assert(
    fc.property(instants, (instant) => {
      const text = writeDate(instant, timeZone)
      const readings = [readDate(text, timeZone, 'start'), readDate(text, timeZone, 'end')]

      expect(readings.map((reading) => reading?.instant.getTime())).toContain(instant.getTime())
      for (const reading of readings) expect(writeDate(reading?.instant as Date, timeZone)).toBe(text)
    }),
  )
})

function between(first: string, last: string): fc.Arbitrary<Date> {
  return fc.date({ min: new Date(first), max: new Date(last), noInvalidDate: true })
}
