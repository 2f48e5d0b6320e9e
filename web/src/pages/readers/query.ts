import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, type Schemas, unwrap } from '../../api/client'
import type { TableName } from './numbers'
import type { Comparison, Range } from './search'

/** The parameters of a report. */
export interface ReportQuery extends Range {
  site: string
  compare?: Comparison
  filter?: string[]
  by?: TableName
}

/** A report: the overview, or one table with up to 1,000 rows. */
export const reportQuery = ({ site, from, to, compare, filter, by }: ReportQuery) =>
  queryOptions({
    queryKey: ['report', site, from, to, compare, filter, by],
    placeholderData: keepPreviousData,
    retry: false,
    // The operation can also return CSV, which is not requested here.
    queryFn: async () =>
      (await unwrap(
        api.GET('/api/v1/sites/{id}/report', {
          params: {
            path: { id: site },
            query: { from, to, compare, by, filter, limit: by ? 1000 : undefined },
          },
          querySerializer: { array: { style: 'form', explode: true } },
        }),
      )) as Schemas['SiteReport'],
  })
