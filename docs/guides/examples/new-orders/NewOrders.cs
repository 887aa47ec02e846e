// mcs -r:System.Net.Http -r:System.Web.Extensions NewOrders.cs && mono NewOrders.exe
using System;
using System.Collections.Generic;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Text;
using System.Web.Script.Serialization;

class NewOrders
{
    class Order
    {
        public int OrderID { get; set; }
        public string InvoiceNumberPrefix { get; set; }
        public int InvoiceNumber { get; set; }
        public List<Line> OrderItemList { get; set; }
    }

    class Line
    {
        public string ItemID { get; set; }
        public decimal ItemQuantity { get; set; }
    }

    static void Main()
    {
        var api = Environment.GetEnvironmentVariable("API");
        var client = new HttpClient();
        client.DefaultRequestHeaders.Add("SecureURL", Environment.GetEnvironmentVariable("SECURE_URL"));
        client.DefaultRequestHeaders.Add("PrivateKey", Environment.GetEnvironmentVariable("PRIVATE_KEY"));
        client.DefaultRequestHeaders.Add("Token", Environment.GetEnvironmentVariable("TOKEN"));

        // getOrder with status 1; not-found is what "No Data Found" was.
        var answer = client.GetAsync(api + "/Orders?orderstatus=1&limit=100").Result;
        var text = answer.Content.ReadAsStringAsync().Result;
        IEnumerable<string> codes;
        if (answer.Headers.TryGetValues("X-Error-Code", out codes) && codes.First() == "not-found") return;
        if (!answer.IsSuccessStatusCode) throw new Exception((int)answer.StatusCode + " " + text);
        var json = new JavaScriptSerializer { MaxJsonLength = int.MaxValue };
        var orders = json.Deserialize<List<Order>>(text);
        foreach (var order in orders)
        {
            var lines = order.OrderItemList.Select(line => line.ItemQuantity + " x " + line.ItemID);
            Console.WriteLine(order.InvoiceNumberPrefix + order.InvoiceNumber + " " + string.Join(", ", lines));
        }

        // updateOrderStatus, of all of them at once. 206: some were refused; the answer says which.
        var accepted = orders.Select(order => new { order.OrderID, OrderStatusID = 2 });
        var request = new HttpRequestMessage(HttpMethod.Put, api + "/Orders");
        request.Headers.Add("Idempotency-Key", Guid.NewGuid().ToString());
        request.Content = new StringContent(json.Serialize(accepted), Encoding.UTF8, "application/json");
        var changed = client.SendAsync(request).Result;
        if (changed.StatusCode != HttpStatusCode.OK) throw new Exception(changed.Content.ReadAsStringAsync().Result);
    }
}
