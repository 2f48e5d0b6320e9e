package cli

import (
	"dateline/api"
	"dateline/internal/identity/secret"
	"dateline/internal/notify/email"
	"dateline/internal/notify/notification"
)

// notificationLinks returns the links in notifications.
func (p *parts) notificationLinks() notification.Links {
	return notification.Links{Sealer: p.sealer, PublicURL: p.cfg.PublicURL}
}

// push returns what sends notifications to browsers.
func (p *parts) push() *notification.Push {
	return &notification.Push{Store: p.store.Notify.Notifications, Sealer: p.sealer, PublicURL: p.cfg.PublicURL}
}

// notificationSender returns the sender of notifications.
func (p *parts) notificationSender() *notification.Sender {
	s := &notification.Sender{
		Store: p.store.Notify.Notifications, Sealer: p.sealer, Client: p.hooks, Push: p.push(),
		Links:    p.notificationLinks(),
		Messages: p.messages,
	}
	if p.cfg.SMTPHost != "" {
		s.Mailer = p.smtp()
	}
	return s
}

// smtp returns the configured SMTP server.
func (p *parts) smtp() *email.SMTP {
	from, domain := p.cfg.EmailSender()
	return &email.SMTP{Server: email.Server{
		Host: p.cfg.SMTPHost, Port: p.cfg.SMTPPort,
		Encryption: email.Encryption(p.cfg.SMTPEncryption),
		Username:   p.cfg.SMTPUsername, Password: secret.NewText(p.cfg.SMTPPassword), From: from, Domain: domain,
	}}
}

func (p *parts) notifyAPI() api.Notify {
	return api.Notify{
		WebhookHandler: api.WebhookHandler{Webhooks: p.webhooks},
		NotificationHandler: api.NotificationHandler{
			Notifications: p.notifications, CanSendEmail: p.cfg.SMTPHost != "",
		},
		NotificationPages: api.NotificationPages{
			NotificationStore: p.store.Notify.Notifications, NotificationLinks: p.notificationLinks(),
			Messages: p.messages, Scheduler: p.scheduler, PostChanges: p.postChanges(),
		},
	}
}
