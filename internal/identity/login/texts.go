package login

import "dateline/internal/infra/webpage"

// texts are all that the login pages say.
type texts struct {
	login, loginOnce, loginAt, linkOnly, machine, oneUse                          webpage.Text
	loggedIn, loggedInAs, proceed, logout, logoutEverywhere, toLogin              webpage.Text
	noPlainHTTP, useHTTPS, startAgain, startAgainWhy, refused, refusedAt          webpage.Text
	noMember, noMemberWhy, invitation, usedLink, usedLinkWhy, foreign, foreignWhy webpage.Text
	notVerified, notVerifiedWhy                                                   webpage.Text
	invited, invitedWhy, yourName, join                                           webpage.Text
	tooMany, waitAMinute, unavailable, unavailableWhy, misconfigured              webpage.Text
}

func allTexts() texts {
	t := func(en, vi string) webpage.Text { return webpage.Text{EN: en, VI: vi} }
	return texts{
		login:     t("Log in to Dateline", "Đăng nhập vào Dateline"),
		loginOnce: t("Log in", "Đăng nhập"),
		loginAt:   t("Log in with %s", "Đăng nhập bằng %s"),
		linkOnly: t("Open a login link to log in; no other way is set up here. An owner can create one for you under "+
			"System → Members.",
			"Hãy mở liên kết đăng nhập; ở đây chưa thiết lập cách đăng nhập nào khác. Chủ sở hữu có thể tạo liên kết "+
				"cho bạn trong Hệ thống → Thành viên."),
		machine: t("The first owner can log in once with a link that this command prints on the machine "+
			"running Dateline:",
			"Chủ sở hữu đầu tiên có thể đăng nhập một lần bằng liên kết do lệnh này tạo ra trên máy chạy Dateline:"),
		oneUse: t("This link logs you in once.", "Liên kết này chỉ đăng nhập được một lần."),

		invited: t("You are invited to Dateline", "Bạn được mời vào Dateline"),
		invitedWhy: t("This link works once. Your colleagues see the name that you enter.",
			"Liên kết này chỉ dùng được một lần. Đồng nghiệp sẽ thấy tên bạn nhập."),
		yourName: t("Your name", "Tên của bạn"),
		join:     t("Join", "Tham gia"),

		loggedIn:         t("You are logged in", "Bạn đã đăng nhập"),
		loggedInAs:       t("As %s, in the workspace %s.", "Với tên %s, trong không gian làm việc %s."),
		proceed:          t("Open the dashboard", "Mở trang quản lý"),
		logout:           t("Log out", "Đăng xuất"),
		logoutEverywhere: t("Log out everywhere", "Đăng xuất khỏi mọi thiết bị"),
		toLogin:          t("To the login page", "Đến trang đăng nhập"),

		noPlainHTTP: t("No login over plain http", "Không thể đăng nhập qua http"),
		useHTTPS: t("Cookies could be read on their way. Open Dateline by https, and set DATELINE_PUBLIC_URL to "+
			"that address.",
			"Cookie có thể bị đọc trộm trên đường truyền. Hãy mở Dateline bằng https và đặt DATELINE_PUBLIC_URL "+
				"thành địa chỉ đó."),
		startAgain: t("Please log in again", "Vui lòng đăng nhập lại"),
		startAgainWhy: t("This login was not started in this browser, took too long, or has been used already.",
			"Lần đăng nhập này không bắt đầu từ trình duyệt này, đã quá thời gian, hoặc đã được dùng rồi."),
		refused:   t("Login refused", "Đăng nhập bị từ chối"),
		refusedAt: t("The login at %s did not succeed.", "Đăng nhập bằng %s không thành công."),
		noMember:  t("You are not a member", "Bạn chưa là thành viên"),
		noMemberWhy: t("You are not a member of any workspace here. Ask an owner to invite you.",
			"Bạn chưa thuộc không gian làm việc nào ở đây. Hãy nhờ chủ sở hữu mời bạn."),
		invitation: t("An invitation finds you by your e-mail address, if %s has verified it.",
			"Lời mời được gắn với địa chỉ email của bạn, nếu %s đã xác minh email đó."),
		notVerified: t("Your email address is not verified", "Địa chỉ email của bạn chưa được xác minh"),
		notVerifiedWhy: t("%s has not verified your email address, so Dateline cannot match it to an invitation. "+
			"Verify it there, or ask its administrator, and log in again.",
			"%s chưa xác minh địa chỉ email của bạn nên Dateline không thể đối chiếu với lời mời. Hãy xác minh email "+
				"ở đó hoặc nhờ quản trị viên, rồi đăng nhập lại."),
		usedLink: t("This link is no longer valid", "Liên kết này không còn hiệu lực"),
		usedLinkWhy: t("It has been used, has expired, or was revoked or replaced by a newer one. Ask for a new one.",
			"Liên kết đã được dùng, đã hết hạn, đã bị thu hồi hoặc đã có liên kết mới thay thế. Hãy xin liên kết mới."),
		foreign: t("Sent from another site", "Yêu cầu từ trang khác"),
		foreignWhy: t("This request did not come from a page of Dateline, so it was not carried out.",
			"Yêu cầu này không đến từ trang của Dateline nên đã không được thực hiện."),
		tooMany:     t("Too many attempts", "Quá nhiều lần thử"),
		waitAMinute: t("Wait a minute, then try again.", "Hãy đợi một phút rồi thử lại."),
		unavailable: t("Login is not possible right now", "Hiện chưa thể đăng nhập"),
		unavailableWhy: t("A service that the login needs does not answer. Try again in a moment.",
			"Một dịch vụ cần cho việc đăng nhập không phản hồi. Hãy thử lại sau ít phút."),
		misconfigured: t("The login is not set up correctly. Ask the operator of Dateline to run: dateline doctor",
			"Việc đăng nhập chưa được thiết lập đúng. Hãy nhờ người vận hành Dateline chạy lệnh: dateline doctor"),
	}
}
