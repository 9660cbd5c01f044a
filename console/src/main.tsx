document.title = "QuotaTree";
