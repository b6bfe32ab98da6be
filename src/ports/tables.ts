export interface Tables { meta: { key: string; value: string } }
