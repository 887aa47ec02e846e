import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Where anyone gets the real file. */
export const whereToGetIt =
  'The public data set is "Online Retail" of the UCI Machine Learning Repository (DOI 10.24432/C5BW33, CC BY 4.0), ' +
  'as CSV with the columns InvoiceNo,StockCode,Description,Quantity,InvoiceDate,UnitPrice,CustomerID,Country, ' +
  'dates as YYYY-MM-DD HH:MM:SS, plain or .gz.'

/** The real year of orders: REALISTIC_FILE, or the file beside the project. Null: it is not on this machine. */
export function findRealFile(): string | null {
  const named = process.env.REALISTIC_FILE
  if (named) {
    if (!existsSync(named)) throw new Error(`REALISTIC_FILE names ${named}, which is not there`)
    return named
  }
  const beside = fileURLToPath(new URL('../../../shared/data/online-retail.csv.gz', import.meta.url))
  return existsSync(beside) ? beside : null
}
