import { checkDatabase, type Outcome } from '../operations/installation/check-database.ts'

/** Findings of each check that are listed where nothing else is asked for. */
export const SHOWN_DEFAULT = 10

/** Checks the database, prints the outcome of each check with at most `shown` findings, and returns whether all is well. */
export async function printChecks(url: string, shown: number): Promise<boolean> {
  let findings = 0
  for await (const outcome of checkDatabase(url, shown)) {
    findings += outcome.count
    process.stdout.write(describe(outcome))
  }
  process.stdout.write(findings === 0 ? 'All is well\n' : `${findings} ${findings === 1 ? 'finding' : 'findings'}\n`)
  return findings === 0
}

function describe({ check, count, findings }: Outcome): string {
  if (count === 0) return `ok     ${check.name}\n`
  const lines = findings.map(
    ({ storeId, record, found }) => `         ${storeId === null ? '' : `store ${storeId}, `}${record}: ${found}\n`,
  )
  const others = count - findings.length
  const more = others > 0 ? `         and ${others} more\n` : ''
  return `FOUND  ${check.name}: ${count}. This rule is broken: ${check.rule}\n${lines.join('')}${more}`
}
