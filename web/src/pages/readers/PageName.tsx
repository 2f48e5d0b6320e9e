import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, unwrap } from '../../api/client'
import { postQuery } from '../../lib/queries'

const isPost = (page: string) => /^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(page)
const codeOf = (page: string) => /^link\/(.+)$/.exec(page)?.[1]

/** The name of a page: of a post its text, of a short link its target. */
export function PageName({ page, own }: { page: string; own: boolean }) {
  const { t } = useTranslation()
  const code = own ? codeOf(page) : undefined
  const post = useQuery({ ...postQuery(page), enabled: own && isPost(page), retry: false, staleTime: 300_000 }).data
  const link = useQuery({
    queryKey: ['link', code],
    enabled: code !== undefined,
    retry: false,
    staleTime: 300_000,
    queryFn: () => unwrap(api.GET('/api/v1/links/{code}', { params: { path: { code: code ?? '' } } })),
  }).data
  if (post) return post.content || t('post.noText')
  if (link)
    return (
      <>
        {link.title || link.url}{' '}
        <Text span size="xs" c="dimmed">
          {t('readers.link')}
        </Text>
      </>
    )
  return page
}

export { isPost }
