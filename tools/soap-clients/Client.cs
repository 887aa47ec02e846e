using System;
using System.Collections;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using System.Text.RegularExpressions;
using System.Web.Script.Serialization;
using System.Web.Services.Protocols;
using System.Xml;

using Fields = System.Collections.Generic.Dictionary<string, object>;

/// A .NET program with the proxy that `wsdl` generated from the WSDL: mono Client.exe PLAN.json. Newer.cartAPI is the proxy of
/// another WSDL, which has an operation that the server lacks.
static class Client
{
    static int done;
    static int failed;

    static int Main(string[] arguments)
    {
        Console.OutputEncoding = new UTF8Encoding(false);
        var json = new JavaScriptSerializer { MaxJsonLength = int.MaxValue };
        var plan = json.Deserialize<Fields>(File.ReadAllText(arguments[0]));
        var api = new cartAPI();
        foreach (Fields call in (IList)plan["calls"])
        {
            Report(call["operation"] + ", " + call["name"], TryCall(api, call));
        }
        var fault = (Fields)plan["fault"];
        Report(fault["operation"] + ", a fault", TryFault(fault));
        Console.WriteLine(done - failed + " of " + done + " as expected");
        return failed == 0 ? 0 : 1;
    }

    static void Report(string what, string fault)
    {
        done += 1;
        failed += fault == null ? 0 : 1;
        Console.WriteLine(fault == null ? "ok " + what : "FAILED " + what + ": " + fault);
    }

    static string TryCall(cartAPI api, Fields call)
    {
        try
        {
            return Difference(call, Send(api, (string)call["operation"], (Fields)call["parameters"]));
        }
        catch (Exception error)
        {
            return error.GetType().Name + " " + error.Message;
        }
    }

    static XmlNode Send(cartAPI api, string operation, Fields parameters)
    {
        Func<string, string> text = name => parameters.ContainsKey(name) ? (string)parameters[name] : null;
        Func<string, int> number = name => (int)parameters[name];
        Func<string, bool> flag = name => (bool)parameters[name];
        string storeUrl = text("storeUrl"), userKey = text("userKey"), callBackURL = text("callBackURL");
        switch (operation)
        {
            case "getProduct":
                return api.getProduct(storeUrl, userKey, number("batchSize"), number("startNum"), text("productId"), callBackURL);
            case "getCustomer":
                return api.getCustomer(storeUrl, userKey, number("batchSize"), number("startNum"), text("customersFilter"), callBackURL);
            case "editCustomer":
                return api.editCustomer(storeUrl, userKey, text("customerData"), text("action"), callBackURL);
            case "getProductCount":
                return api.getProductCount(storeUrl, userKey, callBackURL);
            case "getCustomerCount":
                return api.getCustomerCount(storeUrl, userKey, callBackURL);
            case "getOrderStatus":
                return api.getOrderStatus(storeUrl, userKey, text("invoiceNum"), callBackURL);
            case "getProductInventory":
                return api.getProductInventory(storeUrl, userKey, text("productId"), callBackURL);
            case "updateProductInventory":
                return api.updateProductInventory(storeUrl, userKey, text("productId"), number("quantity"), flag("replaceStock"), callBackURL);
            case "updateOrderStatus":
                return api.updateOrderStatus(storeUrl, userKey, text("invoiceNum"), text("newStatus"), callBackURL);
            case "updateOrderShipment":
                return api.updateOrderShipment(storeUrl, userKey, text("invoiceNum"), text("shipmentID"), text("tracking"), text("shipmentDate"), callBackURL);
            case "getOrder":
                return api.getOrder(storeUrl, userKey, number("batchSize"), number("startNum"), flag("startFrom"), text("invoiceNum"), text("status"), text("dateFrom"), text("dateTo"), callBackURL);
            case "getOrderCount":
                return api.getOrderCount(storeUrl, userKey, flag("startFrom"), text("invoiceNum"), text("status"), text("dateFrom"), text("dateTo"), callBackURL);
            case "getCustomerLoginToken":
                return api.getCustomerLoginToken(storeUrl, userKey, text("customerEmail"), number("timeToLive"), callBackURL);
            default:
                throw new ArgumentException(operation);
        }
    }

    /// What differs from what is expected; null: nothing.
    static string Difference(Fields call, XmlNode root)
    {
        if (root.Name != (string)call["root"]) return "the root is " + root.OuterXml + ", not " + call["root"];
        foreach (var expected in (Fields)call["texts"])
        {
            string given = Shown(TextsAt(root, expected.Key)), wanted = Shown(((IList)expected.Value).Cast<string>());
            if (given != wanted) return expected.Key + " is " + given + ", not " + wanted;
        }
        foreach (var pattern in (Fields)call["patterns"])
        {
            var given = TextsAt(root, pattern.Key).FirstOrDefault() ?? "";
            if (!Regex.IsMatch(given, (string)pattern.Value)) return pattern.Key + " is " + given + ", which does not fit " + pattern.Value;
        }
        return null;
    }

    static IEnumerable<string> TextsAt(XmlNode root, string path)
    {
        return root.SelectNodes(path).Cast<XmlNode>().Select(node => node.InnerText);
    }

    static string Shown(IEnumerable<string> texts)
    {
        return string.Join(", ", texts.Select(text => "'" + text + "'"));
    }

    static string TryFault(Fields fault)
    {
        var parameters = (Fields)fault["parameters"];
        try
        {
            new Newer.cartAPI().runQuery((string)parameters["storeUrl"], (string)parameters["userKey"], null);
            return "there is no fault";
        }
        catch (SoapException error) when (error.GetType() == typeof(SoapException))
        {
            var isExpected = error.Code.Name == (string)fault["code"] && error.Message.Contains((string)fault["text"]);
            return isExpected ? null : "the fault is " + error.Code + " " + error.Message;
        }
    }
}
