/**
 * For statements in which `$1` is the store's id, and `$2` the ids of a batch of records with commas between them.
 * The store's id is not compared as a plain parameter: of a store that had nothing when PostgreSQL last counted, it would
 * believe that any index that begins with the store gives nearly nothing, and read the whole store through a wrong one.
 */
export const thisStore = '(SELECT $1::int)'
export const listedIds = `ANY (string_to_array($2, ',')::int[])`
/**
 * The same for what runs with every change, of a few records at a time: PostgreSQL cannot look into it, and keeps its plan
 * instead of planning each time anew (0.7 ms for 0.1 ms of work).
 */
export const fewListedIds = `ANY (ARRAY (SELECT unnest(string_to_array($2, ',')::int[])))`
