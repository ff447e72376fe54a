// Forms and htmx send the newest CSRF token: that in an open page is old as soon as somebody logs in in another tab.
const newest = () => document.cookie.match(/(?:^|; )csrftoken=([^;]+)/)?.[1];

document.addEventListener("formdata", ({ formData }) => {
  const token = newest();
  if (token && formData.has("csrfmiddlewaretoken")) formData.set("csrfmiddlewaretoken", token);
});
document.addEventListener("htmx:configRequest", ({ detail }) => {
  detail.headers["X-CSRFToken"] = newest() ?? "";
});
