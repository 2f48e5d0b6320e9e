import { Alert } from '@mantine/core'
import { IconTrendingDown, IconTrendingUp } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api, type Schemas, unwrap } from '../../api/client'
import { NotLoaded } from '../../components/states'
import { formatTime } from '../../lib/time'

const shownFor = 24 * 3600_000

/** The alerts of the last day: hours in which a site had unusually many or few views. */
export function Alerts({ site }: { site: Schemas['Site'] }) {
  const { t, i18n } = useTranslation()
  const list = useQuery({
    queryKey: ['site-alerts', site.id],
    refetchInterval: 60_000,
    queryFn: async () =>
      (await unwrap(api.GET('/api/v1/sites/{id}/alerts', { params: { path: { id: site.id } } }))).alerts,
  })
  const number = new Intl.NumberFormat(i18n.language)
  if (!list.data) return <NotLoaded what={t('emails.kinds.alerts')} queries={[list]} />
  return list.data
    .filter((a) => Date.now() - Date.parse(a.hour) < shownFor)
    .map((a) => (
      <Alert
        key={a.id}
        color={a.kind === 'spike' ? 'blue' : 'orange'}
        icon={a.kind === 'spike' ? <IconTrendingUp aria-hidden /> : <IconTrendingDown aria-hidden />}
        title={t(`emails.raised.${a.kind}`)}
        data-alert={a.kind}
      >
        {t('emails.raisedText', {
          views: number.format(a.views),
          usual: number.format(a.usual),
          time: formatTime(a.hour, i18n.language, site.time_zone, 'short'),
        })}
      </Alert>
    ))
}
