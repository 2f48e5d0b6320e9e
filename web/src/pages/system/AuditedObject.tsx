import { Text } from '@mantine/core'
import { linkOptions } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import type { Schemas } from '../../api/client'
import { LinkAnchor } from '../../components/links'

type Named = Schemas['AuditEntry']['object']

/** Where an object is shown; undefined: nowhere. */
function pageOf({ type, id, name }: Named) {
  switch (type) {
    case 'post':
      return linkOptions({ to: '/posts/$id', params: { id } })
    case 'story':
      return linkOptions({ to: '/news/stories/$id', params: { id } })
    case 'domain':
      return name ? linkOptions({ to: '/news/domains/$domain', params: { domain: name } }) : undefined
    case 'rule':
      return linkOptions({ to: '/rules', hash: id })
    case 'account':
      return linkOptions({ to: '/accounts', hash: id })
    case 'site':
      return linkOptions({ to: '/settings', search: { tab: 'sites' }, hash: id })
    case 'shared_link':
      return linkOptions({ to: '/readers' })
    case 'media':
      return linkOptions({ to: '/media' })
    case 'seed':
      return linkOptions({ to: '/news/seeds' })
    case 'member':
      return linkOptions({ to: '/system', search: { tab: 'members' } })
    case 'token':
      return linkOptions({ to: '/system', search: { tab: 'tokens' } })
    case 'webhook':
      return linkOptions({ to: '/system', search: { tab: 'webhooks' } })
    default:
      return undefined
  }
}

/** The object of an entry of the audit log, by its name and with a link to it. */
export function AuditedObject({ object }: { object: Named }) {
  const { t } = useTranslation()
  if (object.deleted)
    return (
      <>
        {object.name && <b>{object.name} </b>}
        <Text span c="dimmed">
          {t('auditDeleted')}
        </Text>
      </>
    )
  const page = pageOf(object)
  if (!page) return object.name && <b>{object.name}</b>
  return (
    <LinkAnchor {...page} inherit underline="always" data-audited={object.type}>
      {object.name || t('auditOpen')}
    </LinkAnchor>
  )
}
