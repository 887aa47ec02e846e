/** The files that a list can be taken along as. */
export const fileTypes = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson; charset=utf-8',
} as const

/** The addresses of the list at `path` as a file, with these filters, for the template of the same name. */
export function filesOf(path: string, asked: Readonly<Record<string, string>>) {
  return Object.keys(fileTypes).map((format) => ({
    address: `${path}/export?${new URLSearchParams({ ...asked, format })}`,
    name: format.toUpperCase(),
  }))
}
