/** Returns one list per field with the values of all rows, for the parameters of SQL's `unnest`. */
export const columnsOf = <Row, Field extends keyof Row>(rows: readonly Row[], ...fields: readonly Field[]) =>
  fields.map((field) => rows.map((row) => row[field]));
