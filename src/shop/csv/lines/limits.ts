/** The largest file. */
export const FILE_BYTES_MAX = 64 * 1024 * 1024
/** Records of a file. */
export const LINES_MAX = 100_000
/** Characters of one record in a file. */
export const LINE_LENGTH_MAX = 1024 * 1024
/** Records that are read, compared or changed together. */
export const BATCH_LINES_MAX = 100
/** Records with passwords, which take long to hash, that are changed in one transaction. */
export const SECRET_LINES_MAX = 10
/** Characters of the records that are compared together. */
export const BATCH_LENGTH_MAX = 1024 * 1024
/** Imports and bulk changes of a store that are kept. */
export const IMPORTS_MAX = 500
/** Lines that those have together. */
export const KEPT_LINES_MAX = 2_000_000
/** Records that one bulk change may have. */
export const CHOSEN_MAX = 10_000
/** An import that changes no more waits for no larger one of its store. */
export const FEW_LINES = 200
/** How long they are kept. */
export const KEPT_DAYS = 30
/** Columns of a file that a person may have to assign. */
export const MAPPED_COLUMNS_MAX = 250
/** Sets of headings of a store whose meaning is remembered. */
export const MAPPINGS_MAX = 100
/** Records of other services that a file may have made by naming them. */
export const NAMES_MAX = 500
/** Items that a cell may name. */
export const ITEMS_MAX = 100
/** Levels of one of them. */
export const LEVELS_MAX = 20
