import { Button, Group, Modal, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type Account, api, unwrap } from '../../api/client'
import { ColorChoice } from '../../components/ColorChoice'
import { AccountName } from '../../components/network'
import { notifyError } from '../../lib/notify'

/** Edits an account's label and color. */
export function EditAccount({ account: a, close }: { account: Account; close: () => void }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const [label, setLabel] = useState(a.label ?? '')
  const [color, setColor] = useState(a.color ?? '')
  const save = useMutation({
    mutationFn: () => unwrap(api.PATCH('/api/v1/accounts/{id}', { params: { path: { id: a.id } }, body: { label, color } })),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: ['accounts'] })
      close()
    },
    onError: notifyError,
  })
  return (
    <Modal opened onClose={close} title={t('accounts.edit')} closeButtonProps={{ 'aria-label': t('close') }}>
      <form
        onSubmit={(e) => {
          e.preventDefault()
          save.mutate()
        }}
      >
        <Stack gap="md">
          <AccountName network={a.network} handle={a.handle} />
          <TextInput label={t('accounts.label')} description={t('accounts.labelText')} placeholder={a.name || a.handle} maxLength={80} value={label} onChange={(e) => setLabel(e.currentTarget.value)} data-autofocus />
          <ColorChoice label={t('accounts.color')} value={color} onChange={setColor} clearable />
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              {t('cancel')}
            </Button>
            <Button type="submit" loading={save.isPending}>
              {t('save')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}
