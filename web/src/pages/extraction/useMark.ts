import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { useAct } from '../../lib/act'

/** Shows the marks that an answer of the API has, and extracts the pages of the domain again. */
export function showMarks(client: QueryClient, now: Schemas['Extraction']) {
  client.setQueryData(['reading', now.domain], now)
  void client.invalidateQueries({ queryKey: ['extracted', now.domain] })
}

/** Marks a text or elements as part of the text of articles, or not. */
export function useMark(domain: string) {
  const { t } = useTranslation()
  const client = useQueryClient()
  return useAct({
    send: (body: Schemas['ExtractionMarkCreate']) =>
      unwrap(api.POST('/api/v1/domains/{domain}/extraction/marks', { params: { path: { domain } }, body })),
    accepted: (now) => showMarks(client, now),
    done: () => t('extraction.marked'),
  })
}
