package post

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/errata-log/errata/alerts/render"
	"github.com/errata-log/errata/signin/smtp"
)

// mailTimeout bounds the mails to all addresses of a message; the others are left for the
// next try. It is below the minute for which a node has a delivery for itself.
const mailTimeout = 45 * time.Second

// mail sends a mail to each address, so that they do not see each other and one that is
// refused does not keep the others from theirs.
func (s *Sender) mail(ctx context.Context, r render.Request) Outcome {
	if s.cfg.Mail == nil {
		return Outcome{Err: "there is no mail server; the operator sets mail-module and the smtp-… settings", Left: r.Mail.To}
	}
	ctx, cancel := context.WithTimeout(ctx, mailTimeout)
	defer cancel()
	hide := newVeil(r)
	var o Outcome
	refused := 0
	for i, to := range r.Mail.To {
		err := s.cfg.Mail.SendMail(ctx, smtp.Mail{
			To: to, Subject: r.Mail.Subject, Text: r.Mail.Text, HTML: r.Mail.HTML, ID: mailID(r.ID, to),
		})
		if err == nil {
			continue
		}
		failure, _ := errors.AsType[*smtp.Error](err)
		if failure != nil {
			o.Status = failure.Code
		}
		o.Err = hide.line(err.Error())
		if failure != nil && refusesRecipient(failure.Code) {
			refused++
			continue
		}
		o.Left = append(o.Left, to)
		if failure == nil || failure.Code == 0 {
			// The server is not there, for the other addresses neither.
			o.Left = append(o.Left, r.Mail.To[i+1:]...)
			break
		}
	}
	if n := len(r.Mail.To); o.Err != "" && n > 1 {
		o.Err = hide.line(fmt.Sprintf("%d of %d addresses have the mail, %d are refused: %s", n-len(o.Left)-refused, n, refused, o.Err))
	}
	o.OK = o.Err == ""
	o.Permanent = !o.OK && len(o.Left) == 0
	return o
}

// refusesRecipient says whether a reply is about this address or this mail, and not about
// the service: its login, or that it has to wait.
func refusesRecipient(code int) bool { return code >= 550 && code <= 559 }

// mailID is the same for each try of the same mail.
func mailID(message, to string) string {
	sum := sha256.Sum256([]byte(message + "\x00" + to))
	return hex.EncodeToString(sum[:16])
}
